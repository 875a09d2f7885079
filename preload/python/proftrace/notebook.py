# SPDX-License-Identifier: MIT
"""%proftrace STATEMENT and %%proftrace in IPython and Jupyter: what a statement or a cell takes."""
from __future__ import annotations

from typing import Any, List

from .metrics import Metrics
from .profiler import Profiler


def describe(metrics: Metrics, profiler: Profiler) -> str:
    """Some lines for people.

    >>> print(describe(Metrics("cell"), Profiler()).splitlines()[0])
    cell: 0.000 s, CPU 0.000 s
    """
    memory, lines = metrics.memory, profiler.get_line_profile()
    at_least = "at least " if memory.peak_ram_is_lower_bound else ""
    said: List[str] = [
        f"{metrics.name}: {metrics.timing.wall_time_s:.3f} s, CPU {metrics.timing.cpu_time_s:.3f} s",
        f"memory {memory.growth_mb:+.1f} MiB, peak {at_least}{memory.peak_ram_mb:.1f} MiB",
    ]
    said += [f"  {line.time_percent:3.0f} %  {line.file.rpartition('/')[2]}:{line.line_number} {line.function}" for line in lines[:5]]
    return "\n".join(said)


def load(shell: Any) -> None:
    """Register the magics."""

    def proftrace(line: str, cell: Any = None) -> None:
        """%proftrace STATEMENT, or %%proftrace [NAME] above a cell: time, memory, and the lines that took most."""
        profiler = Profiler(detailed_memory=True, memory_interval=0.02, enable_line_profiling=True)
        name = line.strip() if cell is not None and line.strip() else "cell" if cell is not None else "statement"
        with profiler.profile(name):
            result = shell.run_cell(cell if cell is not None else line)
        print(describe(profiler.get_metrics(), profiler))
        if not result.success:
            return

    shell.register_magic_function(proftrace, "line_cell", "proftrace")
