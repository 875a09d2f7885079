# SPDX-License-Identifier: MIT
"""Uses every public name of the package, as a program with types does: mypy --strict has nothing to say of it, and it runs, traced and untraced.

  every_name.py RUN [callbacks]    RUN: a recorded run; callbacks: those of Lightning and transformers as well, which must be installed"""
import sys
from typing import Any, Dict, List, Optional, Tuple

import proftrace
from pipeline_profile.cli import main as run_pipeline


@proftrace.range("double")
def double(number: int) -> int:
    return 2 * number


def marks() -> bool:
    proftrace.stage("typed")
    proftrace.epoch(0)
    proftrace.step(1)
    with proftrace.range("outer"):
        doubled: int = double(21)
    proftrace.counter("loss", doubled / 4)
    proftrace.mark("done")
    return proftrace.active()


def parts() -> proftrace.Metrics:
    profiler: proftrace.Profiler = proftrace.PerformanceProfiler(detailed_memory=True, track_system=True, enable_line_profiling=True)
    with profiler.profile("part", samples=10):
        with profiler.profile("inner"):
            double(1)
    seconds: Dict[str, float] = profiler.get_timing_breakdown()
    lines: List[proftrace.LineTime] = profiler.get_line_profile()
    shares: float = sum(line.time_percent for line in lines)
    held: Tuple[float, float] = profiler.get_current_memory(), profiler.get_current_gpu_memory()
    stats: proftrace.SystemStats = profiler.get_current_system_stats()
    report: proftrace.SystemReport = profiler.get_system_report()
    print(sorted(seconds), shares < 101, held[0] > 0, stats.memory_percent < 100, report.avg_cpu_percent > 101)
    return profiler.get_metrics("part")


def values(metrics: proftrace.Metrics) -> List[float]:
    memory: proftrace.MemoryMetrics = metrics.memory
    timing: proftrace.TimingMetrics = metrics.timing
    compute: proftrace.ComputeMetrics = metrics.compute
    machine: proftrace.SystemMetrics = metrics.system
    why: Optional[str] = metrics.reasons.get("memory.peak_gpu_mb")
    print(why, metrics.is_traced)
    return [memory.peak_ram_mb, timing.wall_time_s, compute.estimated_flops, machine.cpu_percent, metrics.throughput]


def requests() -> Dict[str, float]:
    profiler = proftrace.RequestProfiler(sla_s=2.0, name="predict")
    with profiler.profile_request("1"):
        double(3)
    profiler.log(0.25, "2")
    slowest: List[Tuple[float, Optional[str]]] = profiler.slowest(1)
    print(slowest)
    return profiler.generate_hourly_report(hours=0.5)


def recorded(path: str) -> int:
    run: proftrace.Run = proftrace.open(path)
    stage: proftrace.Stage = run.stages[0]
    for name in stage.tables:
        row: Dict[str, Any] = stage.table(name)[0]
        more: int = stage.left_out(name)
        print(name, len(row) > 0, more)
    same: bool = run.stage(stage.name) is stage
    found: Dict[str, Any] = proftrace.analyze_trace(path)
    print(same, sorted(found), run.findings == run.data["findings"])
    for convert in run.to_pandas, run.to_polars:
        try:
            print(len(convert(stage.table("files"))) > 0)
        except ImportError as error:
            print(error)
    return sum(1 for _ in run.events())


def errors() -> int:
    try:
        proftrace.open("/no/such/run")
    except proftrace.CommandError as error:
        return error.code
    return 0


def callbacks() -> List[object]:
    from proftrace.lightning import ProfilerCallback
    from proftrace.transformers import ProfilerCallback as ForTransformers
    return [ProfilerCallback(enabled=False, profile_epochs=[1, 5], log_top_k_ops=15), ForTransformers(enabled=False, profile_epochs=[1])]


class Shell:
    """What a notebook has."""

    def register_magic_function(self, function: object, kind: str, name: str) -> None:
        print(kind, name)


print(marks(), len(values(parts())), sorted(requests())[0], recorded(sys.argv[1]) > 0, errors())
proftrace.load_ipython_extension(Shell())
code: int = run_pipeline({"profile": {"stages": [{"stage": "check", "cmd": ["true"]}]}})
print(code, len(callbacks()) if "callbacks" in sys.argv else 0)
