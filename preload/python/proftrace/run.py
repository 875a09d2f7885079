# SPDX-License-Identifier: MIT
"""A recorded run as plain objects: what report.json has, table by table, and every event."""
from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Dict, Iterator, List, Optional

from . import command

Row = Dict[str, Any]


class Stage:
    """A stage of a run: `name`, `status`, `duration_s`, its time account in `time`, and all that report.json says of it in `data`.

    >>> stage = open(path).stages[0]
    >>> stage.status, stage.time["wall_s"] > 0, stage.data["exit"]
    ('ok', True, 'exit 0')
    """

    def __init__(self, data: Row) -> None:
        self.data = data
        self.name: str = data["stage"]
        self.status: str = data["status"]
        self.duration_s: Optional[float] = data["duration_s"]
        self.time: Row = data.get("time", {})  # seconds, None where unknown, with reasons beside

    @property
    def tables(self) -> List[str]:
        """Names of its tables: calls, files, heap_sites, python_lines ...

        >>> "files" in open(path).stages[0].tables
        True
        """
        return [key for key, value in self.data.items() if isinstance(value, list) and value and isinstance(value[0], dict)]

    def table(self, name: str) -> List[Row]:
        """The rows of a table, as dictionaries; none of what this stage has not. Of a long one the first rows: `left_out`.

        >>> [row["name"] for row in open(path).stages[0].table("ranges")]
        ['read']
        """
        value = self.data.get(name, [])
        if not isinstance(value, list):
            raise KeyError(f"{name} is no table; tables: {', '.join(self.tables)}")
        return value

    def left_out(self, name: str) -> int:
        """How many rows more a table has than `table` gives: `events` and `proftrace export --to sqlite` have them all.

        >>> open(path).stages[0].left_out("ranges")
        0
        """
        number: int = self.data.get(f"{name}_left_out", 0)
        return number

    def __repr__(self) -> str:
        return f"<Stage {self.name}: {self.status}, {self.duration_s} s>"


class Run:
    """What `proftrace.open` gives: `stages`, `findings`, `processes`, `quality_metrics`, `trace_quality`, and the whole document in `data`.

    >>> run = open(path)
    >>> len(run.stages), len(run.processes), run.total_duration_s > 0
    (1, 1, True)
    """

    def __init__(self, path: Optional[str], data: Row) -> None:
        self.path, self.data = path, data
        self.stages = [Stage(stage) for stage in data["stages"]]
        self.findings: List[Row] = data["findings"]
        self.processes: List[Row] = data["processes"]
        self.quality_metrics: Row = data["quality_metrics"]
        self.trace_quality: Row = data["trace_quality"]
        self.total_duration_s: Optional[float] = data["total_duration_s"]

    def stage(self, name: str) -> Stage:
        """The stage of that name. KeyError: there is none.

        >>> open(path).stage("example").name
        'example'
        """
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise KeyError(f"no stage {name!r}; stages: {', '.join(stage.name for stage in self.stages)}")

    def events(self) -> Iterator[Row]:
        """Every event in the order of time, each a dictionary: `proftrace dump --json`.

        >>> sum(event.get("event") == "range_begin" for event in open(path).events())
        1
        """
        arguments = [command.find(), "dump", *([self.path] if self.path else []), "--json"]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, env=command.environment()) as process:
            assert process.stdout
            for line in process.stdout:
                yield json.loads(line)
        if process.returncode:
            raise command.CommandError(f"proftrace dump ended with {process.returncode}: not all events were read", process.returncode)

    @staticmethod
    def to_pandas(rows: List[Row]) -> Any:
        """Rows of a table as a pandas DataFrame (pandas must be installed).

        >>> run = open(path)
        >>> frame = run.to_pandas(run.stages[0].table("ranges"))
        >>> frame["name"].tolist(), frame["calls"].tolist()
        (['read'], [1])
        """
        import pandas  # type: ignore[import-untyped,unused-ignore]
        return pandas.DataFrame(rows)

    @staticmethod
    def to_polars(rows: List[Row]) -> Any:
        """The same as a polars DataFrame.

        >>> run = open(path)
        >>> frame = run.to_polars(run.stages[0].table("ranges"))
        >>> frame["name"].to_list(), frame["calls"].to_list()
        (['read'], [1])
        """
        import polars  # type: ignore[import-not-found,unused-ignore]
        return polars.DataFrame(rows, infer_schema_length=None)  # of all rows: what is null in the first ones has a type further down

    def __repr__(self) -> str:
        return f"<Run {self.path or 'latest'}: {len(self.stages)} stages, {len(self.findings)} findings>"


def _path_of(run: "str | os.PathLike[str] | None") -> str:
    """The run itself, as the command would find it: `latest` and names are for others tomorrow, and elsewhere."""
    root = os.environ.get("PROFTRACE_DIR") or os.environ.get("PROFILE_OUTPUT_DIR") or "proftrace.data"
    path = root if run is None else os.fspath(run)
    if run is not None and path and "/" not in path and not os.path.exists(path):
        path = os.path.join(root, path)
    link = os.path.join(path, "latest")
    try:
        # Only a link that is ours: the command says what it thinks of others.
        if os.lstat(link).st_uid == os.geteuid() and os.path.islink(link) and os.path.isdir(link):
            path = link
    except OSError:
        pass
    return os.path.realpath(path)


def open(run: "str | os.PathLike[str] | None" = None) -> Run:
    """A run directory or trace file (left out: the latest run) as plain objects, of this run, whatever is recorded later.

    `run.stages[0].time["python_s"]`, `run.findings[0]["title"]`, `run.stage("train").table("files")`, `run.events()`.

    >>> try:
    ...     open("/no/such/run")
    ... except CommandError as error:
    ...     print(error.code)
    3
    """
    path = _path_of(run)
    return Run(path, json.loads(command.ask("report", "--format", "json", path)))


CommandError = command.CommandError
