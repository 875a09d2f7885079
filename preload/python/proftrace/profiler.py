# SPDX-License-Identifier: MIT
"""Profiler: how long parts of a program take and what they use, nested, in the program's own process."""
from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from math import isnan, nan
from typing import Any, ContextManager, Dict, Iterator, List, Optional, Tuple

from . import marks, system
from .flops import Flops, Gpu
from .forks import Locked
from .measured import Measured, seconds
from .metrics import LineTime, Metrics, SystemReport, SystemStats
from .sampling import Every

LINE_INTERVAL_S = 0.005
MOST_NAMES = 10000  # of parts whose metrics are kept, the newest; RequestProfiler is for requests
OTHERS = "(older parts)"
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_NOT_THE_PROGRAM = _HERE, contextlib.__file__  # what a `with` calls


class _Part:
    """One `with profiler.profile(...)` that runs."""

    def __init__(self, name: str, samples: Optional[int], network: bool) -> None:
        self.name, self.samples = name, samples
        self.thread = threading.get_ident()
        self.inner_s = 0.0
        self.highest_mb = nan  # of samples
        self.gpu_use, self.gpu_looks = 0.0, 0
        self.before = system.Instant(network=network)
        self.rss_mb, self.peak_rss_mb = system.rss_mb(), system.peak_rss_mb()
        self.gpu_mb, self.gpu_peak_mb = Gpu.held_mb(), Gpu.peak_mb()
        self.flops: Optional[Flops] = None
        self.cpu_s = system.cpu_s()
        self.begin = time.monotonic()


class _Report:
    """Averages over samples that cover stretches of different length: the last one of a part is shorter."""

    def __init__(self) -> None:
        self.samples = 0
        self._peak = nan
        self._cpu, self._disk = (0.0, 0.0), (0.0, 0.0)  # percent times seconds, seconds

    def add(self, lasted_s: float, cpu: float, memory: float, disk: float) -> None:
        self.samples += 1
        if not isnan(cpu):
            self._cpu = self._cpu[0] + cpu * lasted_s, self._cpu[1] + lasted_s
        if not isnan(disk):
            self._disk = self._disk[0] + disk * lasted_s, self._disk[1] + lasted_s
        if not isnan(memory) and not memory <= self._peak:
            self._peak = memory

    def result(self) -> SystemReport:
        cpu, disk = (total / seconds if seconds else nan for total, seconds in (self._cpu, self._disk))
        return SystemReport(cpu, self._peak, disk, self.samples)


class Profiler(Locked):
    """Measures parts of a program. Under `proftrace run` each is a range in the trace as well.

    - track_gpu: memory that PyTorch holds on GPUs, and their use, where the program uses one (then a thread, each `system_interval` seconds)
    - detailed_memory: sample resident memory each `memory_interval` seconds (a thread): a closer bound of each part's peak
    - track_system, system_interval: sample the machine for get_system_report() (a thread)
    - track_cpu_temp, track_network: read the hottest thermal zone, and what all network devices moved
    - enable_line_profiling: which lines take the time (a thread that looks at the measured ones 200 times a second)
    - estimate_flops: count the operations of PyTorch, forward and backward (its own counter: slows the part down)
    - track_carbon: accepted, and nothing: `proftrace pipeline` estimates energy and CO2e of stages

    >>> profiler = Profiler()
    >>> with profiler.profile("sum"):
    ...     total = sum(number for number in [1, 2, 3])
    >>> profiler.get_metrics().timing.wall_time_s > 0
    True
    >>> profiler.get_metrics("sum").name
    'sum'
    """

    def __init__(self, track_gpu: bool = True, track_carbon: bool = False, detailed_memory: bool = False, memory_interval: float = 0.1,
                 track_cpu_temp: bool = False, track_network: bool = False, track_system: bool = False, system_interval: float = 1.0,
                 enable_line_profiling: bool = False, estimate_flops: bool = False) -> None:
        super().__init__()
        self._gpu, self._temperature, self._network, self._count_flops = track_gpu, track_cpu_temp, track_network, estimate_flops
        self._done: Dict[str, Metrics] = {}
        self._self_s: Dict[str, float] = {}
        self._open: Dict[int, List[_Part]] = {}  # by thread, the innermost last
        self._lines: Dict[Tuple[str, int, str], int] = {}
        self._stats_before = self._report_before = system.Instant(disks=True)
        self._report = _Report()
        self._samplers: List[Every] = []
        memory_interval, system_interval = seconds(memory_interval, "memory_interval"), seconds(system_interval, "system_interval")
        if detailed_memory:
            self._samplers.append(Every(memory_interval, self._look_at_memory))
        if track_system:
            self._samplers.append(Every(system_interval, self._look_at_system, first=self._begin_report, last=self._look_at_system))
        if enable_line_profiling:
            self._samplers.append(Every(LINE_INTERVAL_S, self._look_at_lines))
        self._gpu_sampler = Every(system_interval, self._look_at_gpu)

    def _forked(self) -> None:
        """The parts of other threads do not end here, nor does their time count here."""
        super()._forked()
        mine = threading.get_ident()
        self._open = {thread: parts for thread, parts in self._open.items() if thread == mine}

    # ---- measuring ----

    def profile(self, name: str, samples: Optional[int] = None) -> ContextManager[None]:
        """Measure what is inside `with`, or each call of a decorated function; parts nest. `samples`: how many it handles, for `throughput`.
        TypeError, ValueError: a name that is no text, a number of samples that is none or less than 0, a coroutine or a generator.

        >>> profiler = Profiler()
        >>> with profiler.profile("epoch", samples=640):
        ...     pass
        >>> profiler.get_metrics("epoch").throughput > 640
        True
        """
        if not isinstance(name, str):
            raise TypeError(f"the name of a part must be a text, not {name!r}")
        try:
            handled = None if samples is None else int(samples)
        except (TypeError, ValueError):
            raise TypeError(f"samples must be a number, not {samples!r}") from None
        if handled is not None and handled < 0:
            raise ValueError(f"samples must not be less than 0, and is {samples!r}")
        return Measured(lambda: self._measure(name, handled), "with profile(...)")

    @contextlib.contextmanager
    def _measure(self, name: str, samples: Optional[int]) -> Iterator[None]:
        part = _Part(name, samples, self._network)
        samplers = [*self._samplers, *([self._gpu_sampler] if self._gpu and Gpu.is_likely() else [])]
        if self._count_flops and not self._open.get(part.thread):
            part.flops = Flops()  # PyTorch counts for the outermost: its counters do not nest well
        with self._lock:
            self._open.setdefault(part.thread, []).append(part)
        started: List[Every] = []
        try:
            for sampler in samplers:
                sampler.start()
                started.append(sampler)
            if part.flops:
                part.flops.start()
            with marks.range(name):
                part.cpu_s, part.begin = system.cpu_s(), time.monotonic()
                yield
        finally:
            end = time.monotonic()
            self._close(part, end)
            for sampler in started:
                sampler.stop()
            self._end(part, end)

    def _close(self, part: _Part, end: float) -> None:
        with self._lock:
            stack = self._open.get(part.thread, [])
            if part in stack:
                stack.remove(part)
            if stack:
                stack[-1].inner_s += end - part.begin
            else:
                self._open.pop(part.thread, None)

    def _end(self, part: _Part, end: float) -> None:
        if part.flops:
            part.flops.stop()
        metrics = Metrics(part.name, is_traced=marks.active())
        timing = metrics.timing
        timing.wall_time_s, timing.cpu_time_s = end - part.begin, system.cpu_s() - part.cpu_s
        timing.self_time_s = max(0.0, timing.wall_time_s - part.inner_s)
        metrics.throughput = part.samples / timing.wall_time_s if part.samples is not None and timing.wall_time_s > 0 else nan
        self._fill_memory(metrics, part)
        self._fill_compute(metrics, part)
        self._fill_system(metrics, part)
        with self._lock:
            self._self_s[part.name] = self._self_s.get(part.name, 0.0) + timing.self_time_s
            self._done.pop(part.name, None)
            self._done[part.name] = metrics  # the newest is the last
            if len(self._done) > MOST_NAMES:
                oldest = next(iter(self._done))
                self._done.pop(oldest, None)
                self._self_s[OTHERS] = self._self_s.get(OTHERS, 0.0) + self._self_s.pop(oldest, 0.0)

    @staticmethod
    def _fill_memory(metrics: Metrics, part: _Part) -> None:
        now_mb, peak_mb = system.rss_mb(), system.peak_rss_mb()
        memory = metrics.memory
        if isnan(now_mb) or isnan(part.rss_mb):
            metrics.reasons["memory.peak_ram_mb"] = metrics.reasons["memory.growth_mb"] = "/proc cannot be read"
            return
        memory.growth_mb = now_mb - part.rss_mb
        if peak_mb > part.peak_rss_mb:
            memory.peak_ram_mb = max(peak_mb, now_mb)  # the kernel's figures may lag by some pages
            return
        # The peak of the process was before: in this part there may have been more than was seen, between two samples, too.
        memory.peak_ram_mb = max(now_mb, part.rss_mb, 0.0 if isnan(part.highest_mb) else part.highest_mb)
        memory.peak_ram_is_lower_bound = not memory.peak_ram_mb >= peak_mb

    def _fill_compute(self, metrics: Metrics, part: _Part) -> None:
        compute, reasons = metrics.compute, metrics.reasons
        self._fill_gpu(metrics, part)
        if part.flops:
            compute.estimated_flops = part.flops.total
            if part.flops.parameters:
                compute.flops_per_param = part.flops.total / part.flops.parameters
        if isnan(compute.estimated_flops):
            reasons["compute.estimated_flops"] = (part.flops.reason if part.flops else
                                                  "an outer part counts" if self._count_flops else "estimate_flops is off")
        if isnan(compute.flops_per_param):
            reasons["compute.flops_per_param"] = reasons.get("compute.estimated_flops", "no module with parameters was called")
        if isnan(metrics.throughput):
            reasons["throughput"] = "profile() was not told how many samples" if part.samples is None else "it took no time"

    def _fill_gpu(self, metrics: Metrics, part: _Part) -> None:
        memory, compute, reasons = metrics.memory, metrics.compute, metrics.reasons
        held_mb, peak_mb = (Gpu.held_mb(), Gpu.peak_mb()) if self._gpu else (nan, nan)
        if not isnan(held_mb):
            stayed = peak_mb <= part.gpu_peak_mb  # False, too, where the GPU was not in use before
            memory.peak_gpu_mb = max(held_mb, part.gpu_mb) if stayed else peak_mb
            memory.peak_gpu_is_lower_bound = memory.peak_gpu_mb < peak_mb
            self._look_at_gpu([part])
            compute.gpu_utilization_readings = part.gpu_looks
            if part.gpu_looks:
                compute.gpu_utilization_percent = part.gpu_use / part.gpu_looks
        why = Gpu.why_not() if self._gpu else "track_gpu is off"
        if isnan(memory.peak_gpu_mb):
            reasons["memory.peak_gpu_mb"] = why
        if isnan(compute.gpu_utilization_percent):
            reasons["compute.gpu_utilization_percent"] = why if isnan(held_mb) else "PyTorch needs pynvml for it"

    def _fill_system(self, metrics: Metrics, part: _Part) -> None:
        now, machine, reasons = system.Instant(network=self._network), metrics.system, metrics.reasons
        machine.cpu_percent = now.cpu_percent(part.before)
        machine.disk_io_wait_percent = now.io_wait_percent(part.before)
        machine.memory_percent = system.memory_percent()
        for name in "cpu_percent", "disk_io_wait_percent":
            if isnan(getattr(machine, name)):
                reasons["system." + name] = "shorter than a tick of the kernel's clock" if now.cpu else "/proc/stat cannot be read"
        if isnan(machine.memory_percent):
            reasons["system.memory_percent"] = "/proc/meminfo cannot be read"
        if self._temperature:
            machine.cpu_temperature_c = system.cpu_temperature_c()
        if isnan(machine.cpu_temperature_c):
            reasons["system.cpu_temperature_c"] = "the machine tells none" if self._temperature else "track_cpu_temp is off"
        if now.network and part.before.network:
            machine.network_received_mb, machine.network_sent_mb = ((a - b) / system.MIB for a, b in zip(now.network, part.before.network))
        else:
            for name in "network_received_mb", "network_sent_mb":
                reasons["system." + name] = "/proc/net/dev cannot be read" if self._network else "track_network is off"

    # ---- what the threads see ----

    def _parts(self) -> List[_Part]:
        with self._lock:
            return [part for stack in list(self._open.values()) for part in list(stack)]

    def _look_at_memory(self) -> None:
        rss_mb = system.rss_mb()
        for part in self._parts():
            part.highest_mb = rss_mb if isnan(part.highest_mb) else max(part.highest_mb, rss_mb)

    def _look_at_gpu(self, parts: Optional[List[_Part]] = None) -> None:
        use = Gpu.utilization_percent()
        for part in [] if isnan(use) else self._parts() if parts is None else parts:
            part.gpu_use, part.gpu_looks = part.gpu_use + use, part.gpu_looks + 1

    def _begin_report(self) -> None:
        with self._lock:
            self._report_before = system.Instant(disks=True)

    def _look_at_system(self) -> None:
        now, memory = system.Instant(disks=True), system.memory_percent()
        with self._lock:
            before, self._report_before = self._report_before, now
            self._report.add(now.time - before.time, now.cpu_percent(before), memory, now.disk_percent(before))

    def _look_at_lines(self) -> None:
        frames = sys._current_frames()
        for thread in {part.thread for part in self._parts()}:
            frame: Any = frames.get(thread)
            while frame is not None and frame.f_code.co_filename.startswith(_NOT_THE_PROGRAM):
                frame = frame.f_back
            if frame is None:
                continue
            key = (frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_name)
            self._lines[key] = self._lines.get(key, 0) + 1

    # ---- answers ----

    def get_metrics(self, name: Optional[str] = None) -> Metrics:
        """Of the part that ended last, or of the last one of that name. KeyError: none did.

        >>> Profiler().get_metrics("never")
        Traceback (most recent call last):
        ...
        KeyError: "no part 'never' has ended; ended: none"
        """
        with self._lock:
            names = list(self._done)
            if names and (name is None or name in self._done):
                return self._done[names[-1] if name is None else name]
        ended = ", ".join(names[-20:]) or "none"
        raise KeyError(f"no part {'at all' if name is None else repr(name)} has ended; ended: {ended}")

    def get_timing_breakdown(self) -> Dict[str, float]:
        """Seconds by name, of all parts that ended, each without the parts inside it: so the sum is the time of all.

        >>> profiler = Profiler()
        >>> with profiler.profile("outer"):
        ...     with profiler.profile("inner"):
        ...         pass
        >>> sorted(profiler.get_timing_breakdown())
        ['inner', 'outer']
        """
        with self._lock:
            return dict(sorted(self._self_s.items(), key=lambda item: -item[1]))

    def get_line_profile(self) -> List[LineTime]:
        """The innermost lines, those that took most first. Empty without `enable_line_profiling`, and for parts of a few milliseconds.

        >>> Profiler().get_line_profile()
        []
        """
        lines = sorted(self._lines.copy().items(), key=lambda item: (-item[1], item[0]))
        all_looks = sum(n for _, n in lines)
        return [LineTime(file, line, function, 100 * n / all_looks, n) for (file, line, function), n in lines]

    def get_current_memory(self) -> float:
        """Resident memory of this process now, in MiB.

        >>> Profiler().get_current_memory() > 1
        True
        """
        return system.rss_mb()

    def get_current_gpu_memory(self) -> float:
        """How full the fullest GPU is, 0 to 1; NaN without a GPU in use.

        >>> Profiler().get_current_gpu_memory() > 1
        False
        """
        return Gpu.memory_share()

    def get_current_system_stats(self) -> SystemStats:
        """The machine since the last call.

        >>> stats = Profiler().get_current_system_stats()
        >>> 0 < stats.memory_percent < 100
        True
        """
        now = system.Instant(disks=True)
        before, self._stats_before = self._stats_before, now
        return SystemStats(now.cpu_percent(before), system.memory_percent(), now.disk_percent(before))

    def get_system_report(self) -> SystemReport:
        """Averages and peaks of what `track_system` sampled while parts ran. Where there is no sample yet: one of now, since the part
        began (no part: since the Profiler was made).

        >>> Profiler(track_system=True).get_system_report().samples
        1
        """
        with self._lock:
            if self._report.samples:
                return self._report.result()
            before = self._report_before
        now = system.Instant(disks=True)
        return SystemReport(now.cpu_percent(before), system.memory_percent(), now.disk_percent(before), 1)


PerformanceProfiler = Profiler
