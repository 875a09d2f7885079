# SPDX-License-Identifier: MIT
"""What tracing costs on a GPU: each launch, a torch training, starting CUDA; interleaved with the bare program."""
import sys
import time

from gpu_case import Skip, last_json, median
from checks.torch_profiler import training

ROUNDS = 5


def launches(context):
    """Nanoseconds that a launch takes more: at most 1000."""
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    argv = [context.programs["work_shared"], "launch", "20000"]
    bare, traced = [], []
    for _ in range(ROUNDS):
        bare.append(last_json(context.bare(argv).stdout))
        traced.append(last_json(context.traced(argv)[0].stdout))
    values = {}
    for key in ("launch_ns", "launch_sync_ns"):
        values[key] = {"bare": median([b[key] for b in bare]), "traced": median([t[key] for t in traced])}
        values[key]["more"] = values[key]["traced"] - values[key]["bare"]
    assert values["launch_ns"]["more"] <= 1000, values
    return values


def torch_training(context):
    """A training takes at most 3 % longer."""
    argv = [sys.executable, training(), "300"]
    bare, traced = [], []
    for _ in range(ROUNDS):
        bare.append(last_json(context.bare(argv).stdout))
        traced.append(last_json(context.traced(argv)[0].stdout))
    values = {key: {"bare": median([b[key] for b in bare]), "traced": median([t[key] for t in traced])}
              for key in ("wall_s", "cpu_s")}
    for value in values.values():
        value["ratio"] = value["traced"] / value["bare"]
    assert values["wall_s"]["ratio"] <= 1.03, values
    return values


def start(context):
    """Seconds from start to end of a program that only initialises CUDA."""
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    argv = [context.programs["work_shared"], "plain", "10"]
    seconds = {"bare": [], "traced": []}
    for _ in range(ROUNDS):
        for how, run in (("bare", context.bare), ("traced", context.traced)):
            begin = time.perf_counter()
            run(argv)
            seconds[how].append(time.perf_counter() - begin)
    return {how: median(values) for how, values in seconds.items()}


CHECKS = [launches, torch_training, start]
