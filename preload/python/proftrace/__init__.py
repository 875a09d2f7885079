# SPDX-License-Identifier: MIT
"""proftrace in a program's own words: name what it does, measure parts of it, and read what was recorded.

    import proftrace

    with proftrace.range("augment"):
        ...
    proftrace.step(number)

Under `proftrace run` (or LD_PRELOAD=libproftrace.so) ranges, marks, counters, steps and epochs are in the trace, on its clock.
Without it they cost a test, and `Profiler` measures by itself. Pure Python, no dependency, CPython 3.8 to 3.14."""
from .command import CommandError
from .marks import active, counter, epoch, mark, stage, step
from .marks import range as range  # said so for type checkers: not in __all__, as it is a name of Python's own
from .metrics import ComputeMetrics, LineTime, MemoryMetrics, Metrics, SystemMetrics, SystemReport, SystemStats, TimingMetrics
from .profiler import PerformanceProfiler, Profiler
from .requests import RequestProfiler
from .run import Run, Stage
from .run import open as open
from .trace import analyze_trace

__all__ = [
    "CommandError", "ComputeMetrics", "LineTime", "MemoryMetrics", "Metrics", "PerformanceProfiler", "Profiler", "RequestProfiler", "Run",
    "Stage", "SystemMetrics", "SystemReport", "SystemStats", "TimingMetrics", "active", "analyze_trace", "counter", "epoch", "mark", "stage", "step",
]


def load_ipython_extension(shell: object) -> None:
    """`%load_ext proftrace` adds %proftrace and %%proftrace to a notebook.

    >>> class Shell:
    ...     def register_magic_function(self, function, kind, name):
    ...         print(kind, name)
    >>> load_ipython_extension(Shell())
    line_cell proftrace
    """
    from .notebook import load
    load(shell)
