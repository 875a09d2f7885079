# SPDX-License-Identifier: MIT
"""%proftrace STATEMENT and %%proftrace in IPython and Jupyter: what a statement or a cell takes."""
from __future__ import annotations

import ast
from typing import Any, List, Optional

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


def _run(shell: Any, text: str, profiler: Profiler, name: str) -> Any:
    """The cell in the notebook's names; the value of its last line when that is an expression. Its errors are the caller's."""
    __tracebackhide__ = True  # nothing of the cell's own
    text = shell.transform_cell(text)
    tree = shell.transform_ast(shell.compile.ast_parse(text))
    file = shell.compile.cache(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) and not text.rstrip().endswith(";") else None
    code = shell.compile(tree, file, "exec")
    value_of = shell.compile(ast.Expression(last.value), file, "eval") if last else None
    with profiler.profile(name):
        exec(code, shell.user_ns)
        return eval(value_of, shell.user_ns) if value_of else None


def load(shell: Any) -> None:
    """Register the magics."""

    def proftrace(line: str, cell: Optional[str] = None) -> Any:
        """%proftrace STATEMENT, or %%proftrace [NAME] above a cell: time, memory, and the lines that took most."""
        __tracebackhide__ = True
        profiler = Profiler(detailed_memory=True, memory_interval=0.02, enable_line_profiling=True)
        name = "statement" if cell is None else line.strip() or "cell"
        try:
            return _run(shell, line if cell is None else cell, profiler, name)
        finally:
            if profiler.get_timing_breakdown():  # there is none of what is no Python
                print(describe(profiler.get_metrics(), profiler))

    shell.register_magic_function(proftrace, "line_cell", "proftrace")
