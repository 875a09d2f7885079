# SPDX-License-Identifier: MIT
"""Profiler: how long parts of a program take and what they use, nested, in the program's own process."""
from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from math import isnan, nan
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import marks, system
from .flops import Flops, Gpu
from .metrics import LineTime, Metrics, SystemReport, SystemStats
from .sampling import Every

LINE_INTERVAL_S = 0.005
MOST_NAMES = 10000  # of parts whose metrics are kept, the newest; RequestProfiler is for requests
OTHERS = "(older parts)"
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class _Part:
    """One `with profiler.profile(...)` that runs."""

    def __init__(self, name: str, samples: Optional[int]) -> None:
        self.name, self.samples = name, samples
        self.thread = threading.get_ident()
        self.inner_s = 0.0
        self.highest_mb = nan  # of samples
        self.before = system.Instant()
        self.rss_mb, self.peak_rss_mb = system.rss_mb(), system.peak_rss_mb()
        self.gpu_mb, self.gpu_peak_mb = Gpu.held_mb(), Gpu.peak_mb()
        self.flops: Optional[Flops] = None
        self.cpu_s = system.cpu_s()
        self.begin = time.monotonic()


class Profiler:
    """Measures parts of a program. Under `proftrace run` each is a range in the trace as well.

    - track_gpu: memory that PyTorch holds on GPUs, and their use, where the program uses one
    - detailed_memory: sample resident memory each `memory_interval` seconds (a thread), so that the peak of each part is known
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
        self._gpu, self._temperature, self._network, self._count_flops = track_gpu, track_cpu_temp, track_network, estimate_flops
        self._done: Dict[str, Metrics] = {}
        self._self_s: Dict[str, float] = {}
        self._open: Dict[int, List[_Part]] = {}  # by thread, the innermost last
        self._lines: Dict[Tuple[str, int, str], int] = {}
        self._looks = 0
        self._stats_before = system.Instant()
        self._report: List[Tuple[float, float, float]] = []
        self._report_before = self._stats_before
        self._lock = threading.Lock()
        self._samplers: List[Every] = []
        if detailed_memory:
            self._samplers.append(Every(memory_interval, self._look_at_memory))
        if track_system:
            self._samplers.append(Every(system_interval, self._look_at_system))
        if enable_line_profiling:
            self._samplers.append(Every(LINE_INTERVAL_S, self._look_at_lines))

    # ---- measuring ----

    @contextlib.contextmanager
    def profile(self, name: str, samples: Optional[int] = None) -> Iterator[None]:
        """Measure what is inside; parts nest. `samples`: how many it handles, for `throughput`."""
        part = _Part(name, samples)
        if self._count_flops and not self._open.get(part.thread):
            part.flops = Flops()  # PyTorch counts for the outermost: its counters do not nest well
        with self._lock:
            self._open.setdefault(part.thread, []).append(part)
        for sampler in self._samplers:
            sampler.start()
        if part.flops:
            part.flops.start()
        try:
            with marks.range(name):
                part.cpu_s, part.begin = system.cpu_s(), time.monotonic()
                yield
        finally:
            end = time.monotonic()
            self._end(part, end)

    def _end(self, part: _Part, end: float) -> None:
        if part.flops:
            part.flops.stop()
        for sampler in self._samplers:
            sampler.stop()
        metrics = Metrics(part.name, is_traced=marks.active())
        timing = metrics.timing
        timing.wall_time_s, timing.cpu_time_s = end - part.begin, system.cpu_s() - part.cpu_s
        timing.self_time_s = max(0.0, timing.wall_time_s - part.inner_s)
        metrics.throughput = part.samples / timing.wall_time_s if part.samples and timing.wall_time_s > 0 else nan
        self._fill_memory(metrics, part)
        self._fill_compute(metrics, part)
        self._fill_system(metrics, part)
        with self._lock:
            stack = self._open.get(part.thread, [])
            if part in stack:
                stack.remove(part)
            if stack:
                stack[-1].inner_s += timing.wall_time_s
            else:
                self._open.pop(part.thread, None)
            self._self_s[part.name] = self._self_s.get(part.name, 0.0) + timing.self_time_s
            self._done.pop(part.name, None)
            self._done[part.name] = metrics  # the newest is the last
            if len(self._done) > MOST_NAMES:
                oldest = next(iter(self._done))
                del self._done[oldest]
                self._self_s[OTHERS] = self._self_s.get(OTHERS, 0.0) + self._self_s.pop(oldest, 0.0)

    @staticmethod
    def _fill_memory(metrics: Metrics, part: _Part) -> None:
        now_mb, peak_mb = system.rss_mb(), system.peak_rss_mb()
        memory = metrics.memory
        if isnan(now_mb) or isnan(part.rss_mb):
            metrics.reasons["memory.peak_ram_mb"] = "/proc cannot be read"
            return
        memory.growth_mb = now_mb - part.rss_mb
        if peak_mb > part.peak_rss_mb:
            memory.peak_ram_mb = max(peak_mb, now_mb)  # the kernel's figures may lag by some pages
            return
        memory.peak_ram_mb = max(now_mb, part.rss_mb, 0.0 if isnan(part.highest_mb) else part.highest_mb)
        memory.peak_ram_is_lower_bound = isnan(part.highest_mb)

    def _fill_compute(self, metrics: Metrics, part: _Part) -> None:
        memory, compute, reasons = metrics.memory, metrics.compute, metrics.reasons
        held_mb, peak_mb = (Gpu.held_mb(), Gpu.peak_mb()) if self._gpu else (nan, nan)
        if not isnan(held_mb):
            stayed = peak_mb <= part.gpu_peak_mb  # False, too, where the GPU was not in use before
            memory.peak_gpu_mb = max(held_mb, part.gpu_mb) if stayed else peak_mb
            compute.gpu_utilization_percent = Gpu.utilization_percent()
        why = Gpu.why_not() if self._gpu else "track_gpu is off"
        if isnan(memory.peak_gpu_mb):
            reasons["memory.peak_gpu_mb"] = why
        if isnan(compute.gpu_utilization_percent):
            reasons["compute.gpu_utilization_percent"] = why if isnan(held_mb) else "PyTorch needs pynvml for it"
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
            reasons["throughput"] = "profile() was not told how many samples"

    def _fill_system(self, metrics: Metrics, part: _Part) -> None:
        now, machine = system.Instant(), metrics.system
        machine.cpu_percent = now.cpu_percent(part.before)
        machine.disk_io_wait_percent = now.io_wait_percent(part.before)
        machine.memory_percent = system.memory_percent()
        for name in "cpu_percent", "disk_io_wait_percent":
            if isnan(getattr(machine, name)):
                metrics.reasons["system." + name] = "shorter than a tick of the kernel's clock"
        if self._temperature:
            machine.cpu_temperature_c = system.cpu_temperature_c()
        if isnan(machine.cpu_temperature_c):
            metrics.reasons["system.cpu_temperature_c"] = "the machine tells none" if self._temperature else "track_cpu_temp is off"
        if self._network and now.network and part.before.network:
            machine.network_received_mb, machine.network_sent_mb = ((a - b) / system.MIB for a, b in zip(now.network, part.before.network))
        else:
            metrics.reasons["system.network_received_mb"] = "/proc/net/dev cannot be read" if self._network else "track_network is off"

    # ---- what the threads see ----

    def _parts(self) -> List[_Part]:
        with self._lock:
            return [part for stack in self._open.values() for part in stack]

    def _look_at_memory(self) -> None:
        rss_mb = system.rss_mb()
        for part in self._parts():
            part.highest_mb = rss_mb if isnan(part.highest_mb) else max(part.highest_mb, rss_mb)

    def _look_at_system(self) -> None:
        now = system.Instant()
        before, self._report_before = self._report_before, now
        self._report.append((now.cpu_percent(before), system.memory_percent(), now.disk_percent(before)))
        del self._report[:-100000]

    def _look_at_lines(self) -> None:
        frames = sys._current_frames()
        for thread in {part.thread for part in self._parts()}:
            frame: Any = frames.get(thread)
            while frame is not None and frame.f_code.co_filename.startswith(_HERE):
                frame = frame.f_back
            if frame is None:
                continue
            key = (frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_name)
            self._lines[key] = self._lines.get(key, 0) + 1
            self._looks += 1

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
        return dict(sorted(self._self_s.items(), key=lambda item: -item[1]))

    def get_line_profile(self) -> List[LineTime]:
        """The innermost lines, those that took most first. Empty without `enable_line_profiling`, and for parts of a few milliseconds.

        >>> Profiler().get_line_profile()
        []
        """
        lines = sorted(self._lines.copy().items(), key=lambda item: (-item[1], item[0]))
        return [LineTime(file, line, function, 100 * n / max(1, sum(n for _, n in lines)), n) for (file, line, function), n in lines]

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
        now = system.Instant()
        before, self._stats_before = self._stats_before, now
        return SystemStats(now.cpu_percent(before), system.memory_percent(), now.disk_percent(before))

    def get_system_report(self) -> SystemReport:
        """Averages and peaks of what `track_system` sampled; one sample of now where there is none yet.

        >>> Profiler(track_system=True).get_system_report().samples
        1
        """
        if not self._report:
            self._look_at_system()
        cpu, memory, disk = ([value for value in column if not isnan(value)] for column in zip(*self._report))
        return SystemReport(sum(cpu) / len(cpu) if cpu else nan, max(memory) if memory else nan, sum(disk) / len(disk) if disk else nan,
                            len(self._report))


PerformanceProfiler = Profiler
