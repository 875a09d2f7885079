# SPDX-License-Identifier: MIT
"""What torch.profiler's Chrome traces say, and runs of ours in the same words: analyze_trace."""
from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass, field
from math import nan
from typing import IO, Any, Dict, Iterator, List, Tuple

CHUNK = 1 << 20
CPU, GPU = ("cpu_op",), ("kernel", "gpu_memcpy", "gpu_memset")
WITHOUT_KINETO = {"CPU functions": "cpu_op", "CUDA functions": "kernel"}  # pid of events, which have no category then
LOADER = "enumerate(DataLoader)"


@dataclass
class Operator:
    """An operator or a kernel by its name: calls, and microseconds with (total) and without (self) what it calls."""
    name: str
    calls: int = 0
    self_us: float = 0.0
    total_us: float = 0.0


@dataclass
class Trace:
    """Sums of a trace. `memory`: for each device and process the bytes that were held, by time in microseconds, as its allocator told them
    (profile_memory)."""
    cpu: Dict[str, Operator] = field(default_factory=dict)
    gpu: Dict[str, Operator] = field(default_factory=dict)
    memory: Dict[Tuple[Any, ...], List[Tuple[float, int]]] = field(default_factory=dict)
    loader_us: float = 0.0
    steps_us: float = 0.0
    steps: int = 0

    def top(self, operators: Dict[str, Operator], most: int) -> List[Operator]:
        return sorted(operators.values(), key=lambda one: (-one.self_us, one.name))[:most]

    @property
    def loader_percent(self) -> float:
        """Of the time of the steps; NaN: there was none."""
        return 100 * self.loader_us / self.steps_us if self.steps_us else nan


def _open(path: str) -> IO[str]:
    with open(path, "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rt", encoding="utf-8", errors="replace") if is_packed else open(path, encoding="utf-8", errors="replace")


def _events(file: IO[str]) -> Iterator[Dict[str, Any]]:
    """The events one by one: a trace of hundreds of megabytes is never in memory as a whole. An end that is cut off is left out."""
    decoder, text = json.JSONDecoder(), file.read(CHUNK)
    at = text.find('"traceEvents"')
    while at < 0 and not text.lstrip().startswith("["):
        more = file.read(CHUNK)
        if not more:
            raise ValueError("this is no Chrome trace: it has no traceEvents")
        text = text[-20:] + more
        at = text.find('"traceEvents"')
    at = max(at, 0)
    at += len('"traceEvents"') if text.startswith('"traceEvents"', at) else 0
    if text[at:at + 100].lstrip(" \t\r\n:")[:1] != "[":
        raise ValueError("this is no Chrome trace: its traceEvents are no list")
    at = text.index("[", at) + 1
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at < len(text) and text[at] == "]":
            return
        try:
            event, end = decoder.raw_decode(text, at)
        except ValueError:
            more = file.read(CHUNK)
            if not more:
                return
            text, at = text[at:] + more, 0
            continue
        at = end
        if isinstance(event, dict):
            yield event


Span = Tuple[float, float, str]


def _add_nested(spans: List[Span], operators: Dict[str, Operator]) -> None:
    """Spans of one thread: those inside another are its children."""
    open_spans: List[List[Any]] = []  # end, operator, microseconds of children, duration
    def close(until: float) -> None:
        while open_spans and open_spans[-1][0] <= until:
            _, operator, children_us, took_us = open_spans.pop()
            operator.self_us += max(0.0, took_us - children_us)

    for start, took_us, name in sorted(spans, key=lambda one: (one[0], -one[1])):
        close(start)
        if open_spans:
            open_spans[-1][2] += took_us
        operator = operators.setdefault(name, Operator(name))
        operator.calls += 1
        operator.total_us += took_us
        open_spans.append([start + took_us, operator, 0.0, took_us])
    close(float("inf"))


def _add_memory(trace: Trace, start: float, event: Dict[str, Any]) -> None:
    """Each allocator tells what it holds itself: those of a CPU and of a GPU are two curves."""
    told = event.get("args") or {}
    total = told.get("Total Allocated")
    if isinstance(total, (int, float)):
        device = event.get("pid"), told.get("Device Type"), told.get("Device Id")
        trace.memory.setdefault(device, []).append((start, int(total)))


def read_trace(path: "str | os.PathLike[str]") -> Trace:
    """A Chrome trace of torch.profiler (.json or .json.gz). ValueError: it is none."""
    trace, threads = Trace(), {}  # type: Tuple[Trace, Dict[Tuple[Any, Any], List[Span]]]
    with _open(os.fspath(path)) as file:
        for event in _events(file):
            name, took_us = str(event.get("name", "")), event.get("dur")
            category = event.get("cat") or WITHOUT_KINETO.get(str(event.get("pid")))
            start = float(event.get("ts", 0) or 0)
            if name == "[memory]":
                _add_memory(trace, start, event)
            elif event.get("ph") != "X" or not isinstance(took_us, (int, float)):
                continue
            elif name.startswith("ProfilerStep#"):
                if category in ("user_annotation", "cpu_op"):
                    trace.steps_us, trace.steps = trace.steps_us + took_us, trace.steps + 1
            elif category in CPU or (category == "user_annotation" and name.startswith(LOADER)):
                trace.loader_us += took_us if name.startswith(LOADER) else 0
                threads.setdefault((event.get("pid"), event.get("tid")), []).append((start, float(took_us), name))
            elif category in GPU:
                kernel = trace.gpu.setdefault(name, Operator(name))
                kernel.calls, kernel.self_us, kernel.total_us = kernel.calls + 1, kernel.self_us + took_us, kernel.total_us + took_us
    for spans in threads.values():
        _add_nested(spans, trace.cpu)
    return trace


Peaks = List[Tuple[float, int]]


def _peaks(traces: List[Trace], most: int) -> Peaks:
    """The highest values after which less was held."""
    found: Peaks = []
    for memory in (curve for trace in traces for curve in trace.memory.values()):
        ordered = sorted(memory)
        around = zip([(0.0, 0), *ordered], ordered, [*ordered[1:], (0.0, 0)])
        found += [now for before, now, after in around if before[1] < now[1] >= after[1]]
    return sorted(found, key=lambda one: (-one[1], one[0]))[:most]


def _memory_of(traces: List[Trace], most: int, without: str) -> Dict[str, Any]:
    """`without`: why there are no traces."""
    reason = without if not traces else None if any(trace.memory for trace in traces) else "the trace was made without profile_memory"
    return {"memory_peaks": _peaks(traces, most), "memory_peaks_reason": reason}


def _windows_of(path: str, stages: List[Any]) -> List[Trace]:
    """The traces of a run's windows, those that could be read."""
    files = [row["file"] for stage in stages for row in stage.table("profiler_windows") if row.get("file") and not row.get("problem")]
    found = []
    for file in files:
        try:
            found.append(read_trace(os.path.join(path, file)))
        except (OSError, ValueError):
            continue
    return found


def _of_run(path: str, most: int) -> Dict[str, Any]:
    from .run import open as open_run
    stages = open_run(path).stages
    operators = sorted(((row["operator"], row["self_s"] * 1e6) for stage in stages for row in stage.table("operators") if row["on"] == "CPU"),
                       key=lambda one: (-one[1], one[0]))
    functions = sorted(((row["function"], row["self_s"] * 1e6) for stage in stages for row in stage.table("cpu_functions") if row.get("self_s")),
                       key=lambda one: (-one[1], str(one[0])))
    devices = [device for stage in stages for device in stage.data.get("gpu", {}).get("devices", [])]
    kernels = sorted(((row["name"], row["total_s"] * 1e6) for device in devices for row in device.get("kernels", []) if row.get("total_s")),
                     key=lambda one: (-one[1], one[0]))
    shares = [stage.data["training"].get("dataloader_time_pct") for stage in stages if "training" in stage.data]
    known = [share for share in shares if share is not None]
    return {"top_cpu_ops": (operators or functions)[:most], "top_cuda_ops": kernels[:most],
            **_memory_of(_windows_of(path, stages), most, "the run has no window of torch.profiler: PROFTRACE_WINDOW=...,profile_memory makes one"),
            "dataloader_time_pct": max(known) if known else nan}


def analyze_trace(trace_path: "str | os.PathLike[str]", most: int = 10) -> Dict[str, Any]:
    """Where the time of a trace went. Takes a Chrome trace of torch.profiler, or a run of ours (its operators are those of its windows, else
    functions of the CPU profile).

    - top_cpu_ops, top_cuda_ops: [(name, microseconds)], self time, the largest first
    - memory_peaks: [(time in microseconds, bytes)], the largest first, of each device by itself; of traces and windows with profile_memory, on
      the clock of torch.profiler
    - memory_peaks_reason: why there are none; None: there are
    - dataloader_time_pct: waiting for the data loader, of the time of the steps; NaN: no step is in it

    >>> with open("trace.json", "w") as file:
    ...     _ = file.write('''{"traceEvents": [
    ...         {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
    ...         {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 1, "ts": 10, "dur": 80}]}''')
    >>> analyze_trace("trace.json")["top_cpu_ops"]
    [('aten::addmm', 80.0), ('aten::linear', 20.0)]
    >>> sorted(analyze_trace(path))  # a run
    ['dataloader_time_pct', 'memory_peaks', 'memory_peaks_reason', 'top_cpu_ops', 'top_cuda_ops']
    """
    path = os.fspath(trace_path)
    if os.path.isdir(path):
        return _of_run(path, most)
    trace = read_trace(path)
    return {
        "top_cpu_ops": [(one.name, one.self_us) for one in trace.top(trace.cpu, most)],
        "top_cuda_ops": [(one.name, one.self_us) for one in trace.top(trace.gpu, most)],
        **_memory_of([trace], most, ""),
        "dataloader_time_pct": trace.loader_percent,
    }
