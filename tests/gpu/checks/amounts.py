# SPDX-License-Identifier: MIT
"""Kernels, copies, sets and bytes recorded equal those executed; static cudart, threads, graphs, forks, ways to end."""
import collections

from gpu_case import Skip, all_json, counts

PAGEABLE, PINNED = 1, 2
HTOD, DTOH = 1, 2


def program(context, name):
    if name not in context.programs:
        raise Skip(f"{name} is not built: it needs nvcc")
    return context.programs[name]


def of_copies(events):
    kinds = [int(str(e["kinds"]), 0) for e in events if e["event"] == "gpu_copy"]
    return {"copies_pageable": sum(k >> 16 & 255 == HTOD and k >> 8 & 127 == PAGEABLE for k in kinds),
            "copies_pinned": sum(k >> 16 & 255 == HTOD and k >> 8 & 127 == PINNED for k in kinds),
            "copies_back": sum(k >> 16 & 255 == DTOH for k in kinds)}


def recorded(events):
    n = counts(events)
    return {"kernels": n["gpu_kernel"], "sets": n["gpu_set"], **of_copies(events),
            "bytes": sum(e["bytes"] for e in events if e["event"] == "gpu_copy")}


def summed(lines):
    keys = ("kernels", "sets", "copies_pageable", "copies_pinned", "copies_back", "bytes")
    return {key: sum(line[key] for line in lines) for key in keys}


def compare(context, name, mode, n=2000, env=None):
    done, run = context.traced([program(context, name), mode, str(n)], env=env)
    events = context.events(run)
    told, seen = summed(all_json(done.stdout)), recorded(events)
    assert seen == told, f"{mode}: recorded {seen}, executed {told}"
    return {**seen, "lost": sum(e["records"] for e in events if e["event"] == "gpu_lost")}


def plain(context):
    return compare(context, "work_shared", "plain")


def calls_once(context):
    """Each kernel has the one call that launched it; the driver's, that the runtime makes inside, is not there besides."""
    _, run = context.traced([program(context, "work_shared"), "plain", "500"])
    events = context.events(run)
    calls = collections.defaultdict(list)
    for e in events:
        if e["event"] == "cuda_call" and e["correlation"]:
            calls[e["correlation"]].append((e["name"], e["class"]))
    launches = [calls[e["correlation"]] for e in events if e["event"] == "gpu_kernel"]
    doubled = [c for c in launches if len(c) != 1]
    assert launches and not doubled, f"of {len(launches)} kernels {len(doubled)} have no or several calls: {doubled[:3]}"
    names = collections.Counter(c[0] for c in launches)
    assert {of_class for _, of_class in names} == {1}, names
    return {name: n for (name, _), n in names.items()}


def static_cudart(context):
    argv = [program(context, "work_static"), "plain", "1"]
    if context.bare(argv, check=False).returncode != 0:
        raise Skip("a static runtime finds no driver here: doubles stand behind the dynamic one only")
    return compare(context, "work_static", "plain")


def streams_and_threads(context):
    return compare(context, "work_shared", "streams", 16000)


def fork_before(context):
    return compare(context, "work_shared", "fork-before")


def fork_after(context):
    return compare(context, "work_shared", "fork-after")


def graph_nodes(context):
    return compare(context, "work_shared", "graph", 500, {"PROFTRACE_CUDA_GRAPH": "node"})


def graph_level(context):
    _, run = context.traced([program(context, "work_shared"), "graph", "500"])
    n = counts(context.events(run))
    assert n["gpu_graph"] == 500, n
    return {"gpu_graph": n["gpu_graph"], "gpu_kernel": n["gpu_kernel"]}


def ways_to_end(context):
    """After synchronisation nothing may be missing when the program returns or exits; else what is missing is bounded."""
    values = {}
    for how in ("return", "exit", "_exit", "abort", "sigterm"):
        done, run = context.traced([program(context, "work_shared"), "plain", "2000", "--exit", how], check=False)
        told = summed(all_json(done.stdout))
        values[how] = {"exit": done.returncode, "kernels": counts(context.events(run))["gpu_kernel"], "executed": told["kernels"]}
        if how in ("return", "exit"):
            assert values[how]["kernels"] == told["kernels"], (how, values[how])
    expected = {"return": 0, "exit": 0, "_exit": 0, "abort": -6, "sigterm": -15}
    assert {how: v["exit"] for how, v in values.items()} == expected, values
    return values


CHECKS = [plain, calls_once, static_cudart, streams_and_threads, fork_before, fork_after, graph_nodes, graph_level, ways_to_end]
