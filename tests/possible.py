#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What no report may hold: a value above its possible maximum, a negative one, no number at all, or 0 for what is not timed.

  possible.py REPORT.json...

impossible(report) lists what is wrong with a report.json; suites that make reports call it. Bounds come from the report alone: the
machine's CPUs (where no launcher noted them, the threads of a process), the wall time, the life of a process. Clocks that are read one
after the other may differ by SLACK_S.
"""
import json
import math
import sys

SLACK_S = 0.005
ROUNDING = 1 + 1e-6
# A level may fall below the one at the start.
MAY_FALL = ("growth_bytes", "growth_rate_bytes_per_s")
# What something has become against what it was: from nothing on, without an end.
CHANGES = ("change_percent",)
# Of one CPU: several may be used.
OF_CPUS = ("cpu_percent", "cpu_percent_avg", "cpu_percent_max")
# Of the machine, or of what is less.
OF_MACHINE = ("others_cpu_percent", "machine_cpu_percent", "machine_cpu_percent_avg", "cpu_pressure_percent", "cpu_pressure_percent_avg")
ORDERED = ("min_s", "p50_s", "p95_s", "p99_s", "longest_s", "max_s")
NOT_TIMED = ("read_dir", "proc_exec", "thread_start", "stdio_char")
# Sums over all threads or processes, or of waits that overlap.
OF_ALL = ("cpu_s",)


def numbers(node, path=""):
    """(path, key, number) of all numbers."""
    if isinstance(node, dict):
        for key, child in node.items():
            yield from numbers(child, f"{path}.{key}" if path else key)
    elif isinstance(node, list):
        for i, child in enumerate(node):
            yield from numbers(child, f"{path}[{i}]")
    elif isinstance(node, (int, float)) and not isinstance(node, bool):
        yield path, path.rsplit(".", 1)[-1], node


def most_percent(key, cpus):
    if key in OF_CPUS:
        return 100 * cpus
    if key in CHANGES:
        return math.inf
    return 100 if key.endswith(("percent", "_pct", "percent_avg", "percent_max")) else math.inf


def of_numbers(report, cpus):
    quality = [f"quality_metrics.{key}" for key in report.get("quality_metrics") or {}]
    for path, key, number in numbers(report):
        if path in quality or ".quality_metrics." in path:
            continue
        if not math.isfinite(number):
            yield f"{path} is {number}"
        elif number < (-100 if key in CHANGES else 0) and key not in MAY_FALL and not path.startswith("quality"):
            yield f"{path} is {number}"
        elif number > most_percent(key, cpus) * ROUNDING:
            yield f"{path} is {number}, at most {most_percent(key, cpus)} is possible"


def of_order(row, where):
    times = [(key, row[key]) for key in ORDERED if row.get(key) is not None]
    for (low, less), (high, more) in zip(times, times[1:]):
        if less > more * ROUNDING + 1e-9:
            yield f"{where}: {low} {less} is above {high} {more}"
    if row.get("mean_s") is not None and times and times[-1][0] in ("longest_s", "max_s") and row["mean_s"] > times[-1][1] * ROUNDING:
        yield f"{where}: the mean {row['mean_s']} is above the longest {times[-1][1]}"


def rows_of(node, path=""):
    """(path, row) of all objects."""
    if isinstance(node, dict):
        yield path, node
        for key, child in node.items():
            yield from rows_of(child, f"{path}.{key}" if path else key)
    elif isinstance(node, list):
        for i, child in enumerate(node):
            yield from rows_of(child, f"{path}[{i}]")


def of_lives(report, cpus):
    """What one thread did is no more than its life; CPU time of a process is no more than all CPUs had in it."""
    for path, row in rows_of(report):
        yield from of_order(row, path)
        lived_s = row.get("lives_s", row.get("lived_s"))
        if lived_s is None:
            continue
        for key, number in row.items():
            if not key.endswith("_s") or key in ("lived_s", "lives_s") or number is None or isinstance(number, str):
                continue
            most = lived_s * (cpus if key in OF_ALL else 1) + SLACK_S
            if number > most * ROUNDING:
                yield f"{path}: {key} {number} in a life of {lived_s} s"


def of_processes(report, cpus):
    for process in report.get("processes", []):
        cpu_s, lived_s = process.get("cpu_s"), process.get("duration_s")
        if cpu_s is not None and lived_s is not None and cpu_s > (lived_s + SLACK_S) * cpus:
            yield f"process {process['pid']}: {cpu_s} s on CPUs in a life of {lived_s} s"


def of_stage(stage, cpus):
    name, wall_s = stage["stage"], stage["time"].get("wall_s")
    if wall_s is not None:
        for key, number in stage["time"].items():
            if key.endswith("_s") and number is not None and number > wall_s * ROUNDING + 1e-6:
                yield f"{name}: {key} {number} of {wall_s} s"
        if stage.get("cpu_s") is not None and stage["cpu_s"] > (wall_s + SLACK_S) * cpus:
            yield f"{name}: {stage['cpu_s']} s on {cpus} CPUs in {wall_s} s"
    of_functions = sum(row["self_s"] for row in stage.get("cpu_functions", []))
    if stage.get("cpu_s") is not None and of_functions > 1.02 * stage["cpu_s"] + SLACK_S:
        yield f"{name}: the functions ran {of_functions} s, the stage {stage['cpu_s']} s"
    heap = stage.get("heap") or {}
    for key in ("live_bytes_peak_of_largest_process", "growth_bytes"):
        if heap.get("bytes") is not None and heap.get(key) is not None and heap[key] > heap["bytes"]:
            yield f"{name}: heap.{key} {heap[key]} of {heap['bytes']} that were allocated"
    for row in stage.get("calls", []):
        if row.get("name", row.get("call")) in NOT_TIMED and any(row.get(key) == 0 for key in ("total_s", "p50_s")):
            yield f"{name}: {row.get('name', row.get('call'))} took 0 s, which was not timed"


def of_findings(report):
    total_s = report.get("total_duration_s")
    for finding in report["findings"]:
        if finding["gain_upper_s"] > (total_s or 0) * ROUNDING + 1e-6:
            yield f"{finding['rule']} gains {finding['gain_upper_s']} of {total_s} s"


def impossible(report):
    cpus = report["machine"].get("cpus") or max((s.get("resources", {}).get("threads_max") or 0 for s in report["stages"]), default=0) or 4096
    problems = list(of_numbers(report, cpus)) + list(of_lives(report, cpus)) + list(of_processes(report, cpus)) + list(of_findings(report))
    for stage in report["stages"]:
        problems += of_stage(stage, cpus)
    return problems


def main(paths):
    n = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for problem in impossible(json.load(file)):
                print(f"{path}: {problem}")
                n += 1
    return 1 if n else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
