# SPDX-License-Identifier: MIT
"""What the kernel says of this process and this machine. Unknown is NaN; nothing here raises."""
from __future__ import annotations

import os
import resource
import time
from math import isnan, nan
from typing import Dict, Optional, Tuple

from .quiet import exists
from .quiet import text_of as _text

MIB = 1024.0 * 1024.0
MOST_ZONES = 64


def _kib(text: str, key: str) -> float:
    for line in text.splitlines():
        if line.startswith(key + ":"):
            return float(line.split()[1])
    return nan


def rss_mb() -> float:
    """Resident memory of this process, in MiB."""
    words = _text("/proc/self/statm").split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") / MIB if len(words) > 1 else nan


def peak_rss_mb() -> float:
    """The most that it ever was."""
    return _kib(_text("/proc/self/status"), "VmHWM") / 1024


def cpu_s() -> float:
    """CPU time of all threads of this process, user and system, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def memory_percent() -> float:
    """Memory of the machine that is in use: all but what is available."""
    text = _text("/proc/meminfo")
    return 100 * (1 - _kib(text, "MemAvailable") / _kib(text, "MemTotal"))


def cpu_temperature_c() -> float:
    """The hottest thermal zone, in degrees Celsius."""
    hottest = nan
    for number in range(MOST_ZONES):
        word = _text(f"/sys/class/thermal/thermal_zone{number}/temp").strip()
        if word.lstrip("-").isdigit():
            hottest = int(word) / 1000 if isnan(hottest) else max(hottest, int(word) / 1000)
    return hottest


def network_bytes() -> Optional[Tuple[int, int]]:
    """Received and sent by all devices but loopback."""
    received = sent = 0
    lines = [line.split(":", 1) for line in _text("/proc/net/dev").splitlines() if ":" in line]
    for name, rest in lines:
        words = rest.split()
        if name.strip() != "lo" and len(words) > 8:
            received, sent = received + int(words[0]), sent + int(words[8])
    return (received, sent) if lines else None


class Instant:
    """Counters of the machine at one time; of disks and network devices where they are wanted."""

    def __init__(self, disks: bool = False, network: bool = False) -> None:
        self.time = time.monotonic()
        words = [int(word) for word in _text("/proc/stat").partition("\n")[0].split()[1:9]]
        self.cpu: Optional[Dict[str, int]] = None
        if len(words) == 8:
            # user nice system idle iowait irq softirq steal, in ticks of all CPUs
            self.cpu = {"all": sum(words), "idle": words[3] + words[4], "iowait": words[4]}
        self.disk_ms = self._disks() if disks else None
        self.network = network_bytes() if network else None

    @staticmethod
    def _disks() -> Optional[Dict[str, int]]:
        """Milliseconds in which each disk was busy; parts of disks and loops are left out."""
        found = {}
        for line in _text("/proc/diskstats").splitlines():
            words = line.split()
            if len(words) > 12 and exists(f"/sys/block/{words[2]}") and not words[2].startswith(("loop", "ram", "zram")):
                found[words[2]] = int(words[12])
        return found or None

    def cpu_percent(self, before: Instant) -> float:
        """CPU use of the machine since then."""
        if not self.cpu or not before.cpu or self.cpu["all"] <= before.cpu["all"]:
            return nan
        return 100 * (1 - (self.cpu["idle"] - before.cpu["idle"]) / (self.cpu["all"] - before.cpu["all"]))

    def io_wait_percent(self, before: Instant) -> float:
        """Time since then in which CPUs had nothing to do but to wait for a disk."""
        if not self.cpu or not before.cpu or self.cpu["all"] <= before.cpu["all"]:
            return nan
        return 100 * max(0, self.cpu["iowait"] - before.cpu["iowait"]) / (self.cpu["all"] - before.cpu["all"])

    def disk_percent(self, before: Instant) -> float:
        """Time since then in which the busiest disk was busy."""
        if not self.disk_ms or not before.disk_ms or self.time <= before.time:
            return nan
        busy = max(self.disk_ms[name] - before.disk_ms.get(name, self.disk_ms[name]) for name in self.disk_ms)
        return min(100.0, busy / 10 / (self.time - before.time))
