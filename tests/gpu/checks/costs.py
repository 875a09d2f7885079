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


def calls(context):
    """Nanoseconds of calls that PyTorch makes around every kernel: CUPTI is entered at each of them, recorded or not."""
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    argv = [context.programs["work_shared"], "calls", "5000"]
    return {"bare": last_json(context.bare(argv).stdout), "traced": last_json(context.traced(argv)[0].stdout),
            "without_cuda": last_json(context.traced(argv, env={"PROFTRACE_CUDA": "off"})[0].stdout)}


def memory(context):
    """MiB that tracing takes of the host and, with CUPTI's own buffers, of the GPU; others on the GPU disturb, so the least counts."""
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    argv = [context.programs["work_shared"], "launch", "2000"]
    values = {}
    for how, run in (("bare", context.bare), ("traced", lambda argv: context.traced(argv)[0])):
        told = [last_json(run(argv).stdout) for _ in range(3)]
        values[how] = {key: min(t[key] for t in told) / 1024 for key in ("rss_kib", "device_used_kib")}
    return {f"{key[:-4]}_mib_more": values["traced"][key] - values["bare"][key] for key in values["bare"]}


def graphs(context):
    """A launch of a graph of 20 kernels: recorded as a whole, and node by node."""
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    argv = [context.programs["work_shared"], "graph-time", "500"]
    values = {"bare": last_json(context.bare(argv).stdout)}
    for how in ("graph", "node"):
        values[how] = last_json(context.traced(argv, env={"PROFTRACE_CUDA_GRAPH": how})[0].stdout)
    return values


def cupti_alone(context):
    """What of it is CUPTI's own: the same launches with nothing but a few of its kinds switched on."""
    if "cupti_alone" not in context.programs:
        raise Skip("cupti_alone is not built: it needs nvcc")
    values = {}
    for what in ("none", "c", "k", "kr", "krt", "krdmso"):
        done = context.bare([context.programs["cupti_alone"], what, "20000"], check=False)
        if done.returncode == 77:
            raise Skip(done.stderr.strip())
        assert done.returncode == 0, f"{what}: exit {done.returncode}: {done.stderr[-300:]}"
        values[what] = last_json(done.stdout)
    assert values["krt"]["kernels"] > 100000 and not values["krt"]["bad_times"], values["krt"]
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


CHECKS = [launches, calls, torch_training, start, memory, graphs, cupti_alone]
