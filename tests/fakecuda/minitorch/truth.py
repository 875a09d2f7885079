# SPDX-License-Identifier: MIT
"""What a run truly cost: when the GPU was idle, by the doubles' witness, and which planted cause it waited for."""
import json
import os


def union(spans):
    """Disjoint, in order."""
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def gaps(spans):
    merged = union(spans)
    return [[a[1], b[0]] for a, b in zip(merged, merged[1:])]


def overlap_ns(first, second):
    """Time that two lists of disjoint spans share."""
    total, at = 0, 0
    for start, end in first:
        while at < len(second) and second[at][1] <= start:
            at += 1
        i = at
        while i < len(second) and second[i][0] < end:
            total += min(end, second[i][1]) - max(start, second[i][0])
            i += 1
    return total


def operations(pid, whats):
    """Spans of these operations on device 0, from the witness of a process."""
    prefix = os.environ.get("FAKECUDA_WITNESS")
    if not prefix:
        return []
    with open(f"{prefix}.{pid}.jsonl", "rb") as file:
        rows = [json.loads(line) for line in file.read().rstrip(b"\0").splitlines() if b'"device":0' in line]
    return [(r["start_ns"], r["end_ns"]) for r in rows if r["what"] in whats and r.get("start_ns")]


def idle_by_cause(busy, planted):
    """Idle time, and for each cause the part of it in which the cause kept the GPU waiting."""
    idle = gaps(busy)
    by_cause = {}
    for cause in sorted({p["cause"] for p in planted}):
        spans = union([(p["start_ns"], p["end_ns"]) for p in planted if p["cause"] == cause])
        by_cause[cause] = overlap_ns(idle, spans)
    return {"idle_ns": sum(end - start for start, end in idle), "by_cause_ns": by_cause,
            "first_ns": min((s for s, _ in busy), default=None), "last_ns": max((e for _, e in busy), default=None)}
