# SPDX-License-Identifier: MIT
"""Runs torch.profiler for some steps of a training, and says what it saw: what the callbacks of lightning.py and transformers.py share.

A profiler of the program's own is never disturbed, and no error of profiling ends a training: both are said in one line."""
from __future__ import annotations

import itertools
import os
import socket
import time
from typing import Any, Dict, List, Optional, Sequence

from . import marks
from .trace import LOADER, Operator, Trace, read_trace

ACTIVITIES = {"cpu": "CPU", "cuda": "CUDA"}


class Windows:
    """One window at a time: begin(), step() after each step, end(). `path`: where the trace goes."""

    def __init__(self, activities: Optional[Sequence[str]] = None, record_shapes: bool = False, with_stack: bool = False, with_flops: bool = False,
                 profile_memory: bool = False, top: int = 10) -> None:
        for activity in activities or ():
            if activity not in ACTIVITIES:
                raise ValueError(f"no activity {activity!r}; activities: {', '.join(ACTIVITIES)}")
        self._activities = activities
        self._options: Dict[str, Any] = {"record_shapes": record_shapes, "with_stack": with_stack, "with_flops": with_flops, "profile_memory": profile_memory}
        self._top = top
        self._profiler: Any = None
        self.last: Optional[Trace] = None
        self.exported: List[str] = []
        self.failed: Optional[str] = None

    def is_open(self) -> bool:
        return self._profiler is not None

    def _wanted(self, torch: Any) -> List[Any]:
        kinds = torch.profiler.ProfilerActivity
        wanted = self._activities or (["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"])
        return [getattr(kinds, ACTIVITIES[one]) for one in wanted if one == "cpu" or torch.cuda.is_available()] or [kinds.CPU]

    def begin(self, path: str, wait: int = 0, warmup: int = 0, active: int = 1, repeat: int = 1) -> bool:
        """False: it could not, `failed` says why."""
        import torch  # type: ignore[import-not-found,unused-ignore]
        self.failed = self.last = None
        if torch._C._autograd._profiler_enabled():
            self.failed = "the program profiles itself: its profiler is left alone"
            return False

        def ready(profiler: Any) -> None:
            self._export(profiler, path)

        try:
            profiler = torch.profiler.profile(activities=self._wanted(torch), on_trace_ready=ready, **self._options,
                                              schedule=torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=repeat))
            profiler.start()
        except Exception as error:
            self.failed = f"torch.profiler did not start: {error}"
            return False
        self._profiler = profiler
        marks.mark("profiler window begins")
        return True

    def step(self) -> None:
        try:
            self._profiler.step()
        except Exception as error:
            self._profiler, self.failed = None, f"torch.profiler ended: {error}"

    def end(self) -> None:
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        marks.mark("profiler window ends")
        try:
            profiler.stop()
        except Exception as error:
            self.failed = f"torch.profiler ended: {error}"

    def _export(self, profiler: Any, path: str) -> None:
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            if path.endswith(os.sep):
                path += f"{socket.gethostname()}_{os.getpid()}.{time.time_ns() // 1000000}.pt.trace.json"
            elif path in self.exported:
                stem, dot, end = path.rpartition(".")
                path = next(one for one in (f"{stem}_{n}{dot}{end}" for n in itertools.count(1)) if one not in self.exported)
            profiler.export_chrome_trace(path)
            self.exported.append(path)
            self.last = read_trace(path)
        except Exception as error:
            self.failed = f"the trace was not written: {error}"

    # ---- what it saw ----

    @staticmethod
    def _table(title: str, operators: List[Operator], all_us: float) -> List[str]:
        rows = [f"  {i}. {one.name} - {one.self_us / 1000:.1f}ms ({100 * one.self_us / all_us:.1f}%)" for i, one in enumerate(operators, 1)]
        return [f"Top {len(rows)} {title}:", *rows] if rows else []

    def summary(self, shares: Optional[Dict[str, float]] = None) -> List[str]:
        """Lines for people: the operators that took most, phases as shares of the steps, and what to look at."""
        if not self.last:
            return []
        trace = self.last
        cpu_us, gpu_us = (sum(one.self_us for one in kind.values()) or 1.0 for kind in (trace.cpu, trace.gpu))
        lines = self._table("CPU operations", trace.top(trace.cpu, self._top), cpu_us)
        lines += self._table("CUDA operations", trace.top(trace.gpu, self._top), gpu_us)
        if shares:
            lines += ["Summary:", *(f"  {name}: {share:.1f}%" for name, share in shares.items())]
        return lines + self._warnings(trace, shares or {})

    @staticmethod
    def _warnings(trace: Trace, shares: Dict[str, float]) -> List[str]:
        found = []
        computing = [one for one in trace.cpu.values() if not one.name.startswith(LOADER)]  # a wait for data takes no CPU time
        cpu_us = sum(one.self_us for one in computing) or 1.0
        loader = shares.get("Dataloader time", trace.loader_percent)
        if loader > 10:
            found.append(f"  - the training waits for data for {loader:.0f}% of its time (more workers, or less work in each sample)")
        calls = sum(one.calls for one in computing)
        if trace.steps and calls and cpu_us / calls < 15 and not trace.gpu:
            found.append(f"  - {calls // max(1, trace.steps)} operations a step take {cpu_us / calls:.0f} us each (a larger batch, or torch.compile)")
        largest = max(computing, key=lambda one: one.self_us, default=None)
        if largest and largest.self_us > 0.4 * cpu_us:
            found.append(f"  - {largest.name} takes {100 * largest.self_us / cpu_us:.0f}% of the CPU time of all operations")
        return ["Bottlenecks detected:", *found] if found else []
