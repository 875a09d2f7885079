# SPDX-License-Identifier: MIT
"""torch.profiler beside us: it works unchanged, and outside its windows our counts and times equal what it tells."""
import importlib.util
import os
import sys

from gpu_case import Skip, last_json

HERE = os.path.dirname(os.path.abspath(__file__))


def training():
    if not importlib.util.find_spec("torch"):
        raise Skip("torch is not installed")
    import torch
    if not torch.cuda.is_available():
        raise Skip("torch sees no GPU")
    return os.path.join(HERE, "..", "programs", "train.py")


def unchanged_under_us(context):
    """The profiler's own kernels, with and without us."""
    argv = [sys.executable, training(), "60", "--profile", "30", "50"]
    alone = last_json(context.bare(argv).stdout)["profiler"]
    done, run = context.traced(argv)
    under = last_json(done.stdout)["profiler"]
    states = [(e["state"], e.get("reason")) for e in context.events(run) if e["event"] == "gpu_tracing"]
    assert under["kernels"] == alone["kernels"], (alone, under)
    assert abs(under["kernel_us"] - alone["kernel_us"]) <= 0.1 * alone["kernel_us"], (alone, under)
    return {"alone": alone, "under_us": under, "states": states}


def kernels_as_it_counts(context):
    """Kernels of 20 steps: ours without its window against its own."""
    steps = 20
    alone = last_json(context.bare([sys.executable, training(), "60", "--profile", "30", str(30 + steps)]).stdout)["profiler"]
    _, run = context.traced([sys.executable, training(), "60"])
    kernels = sorted((e for e in context.events(run) if e["event"] == "gpu_kernel"), key=lambda e: e["start_ns"])
    per_step = alone["kernels"] / steps
    last = kernels[-int(per_step * steps):]
    ours = {"kernels": len(last), "kernel_us": sum(e["duration_ns"] for e in last) / 1e3, "all": len(kernels)}
    assert abs(ours["kernel_us"] - alone["kernel_us"]) <= 0.1 * alone["kernel_us"], (alone, ours)
    return {"torch_profiler": alone, "ours": ours}


CHECKS = [unchanged_under_us, kernels_as_it_counts]
