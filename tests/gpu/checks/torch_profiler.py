# SPDX-License-Identifier: MIT
"""torch: its profiler works unchanged beside us, our counts and times equal what it tells; DataLoader workers, several ranks."""
import collections
import importlib.util
import os
import sys

from gpu_case import Skip, all_json, last_json

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
    """Kernels of 20 steps, its own against ours: as many (what a run of 60 steps has more than one of 40), and as long."""
    steps = 20
    alone = last_json(context.bare([sys.executable, training(), "60", "--profile", "30", str(30 + steps)]).stdout)["profiler"]
    kernels = {}
    for n in (40, 60):
        _, run = context.traced([sys.executable, training(), str(n)])
        kernels[n] = sorted((e for e in context.events(run) if e["event"] == "gpu_kernel"), key=lambda e: e["start_ns"])
    more = len(kernels[60]) - len(kernels[40])
    ours = {"kernels": more, "kernel_us": sum(e["duration_ns"] for e in kernels[60][-more:]) / 1e3, "all": len(kernels[60])}
    assert more == alone["kernels"], (alone, ours)
    assert abs(ours["kernel_us"] - alone["kernel_us"]) <= 0.1 * alone["kernel_us"], (alone, ours)
    return {"torch_profiler": alone, "ours": ours}


def of_processes(context, argv):
    """pid -> kernels, of all that the command started; and what each rank printed."""
    done, run = context.traced(argv)
    events = context.events(run)
    kernels = collections.Counter(e["pid"] for e in events if e["event"] == "gpu_kernel")
    told = all_json(done.stdout)
    assert told and {t["pid"] for t in told} == set(kernels), (told, kernels)
    return kernels, sum(e["records"] for e in events if e["event"] == "gpu_lost")


def data_loader_workers(context):
    """Forked workers beside a trainer that uses CUDA: they neither hang nor have a GPU, and nothing of the trainer is missing."""
    without, _ = of_processes(context, [sys.executable, training(), "60"])
    with_workers, lost = of_processes(context, [sys.executable, training(), "60", "--workers", "2"])
    assert list(without.values()) == list(with_workers.values()), (without, with_workers)
    return {"kernels": list(with_workers.values()), "lost": lost}


def torchrun(context):
    """Two ranks on this GPU, each with its own records."""
    kernels, lost = of_processes(context, [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
                                           training(), "40"])
    assert len(kernels) == 2 and len(set(kernels.values())) == 1, kernels
    return {"kernels": list(kernels.values()), "lost": lost}


def vllm(context):
    """A server of several processes; it needs a model that is on this machine."""
    model = os.environ.get("PROFTRACE_GPU_MODEL")
    if not importlib.util.find_spec("vllm"):
        raise Skip("vllm is not installed")
    if not model:
        raise Skip("no model is named: PROFTRACE_GPU_MODEL")
    code = (f"from vllm import LLM, SamplingParams\nif __name__ == '__main__':\n"
            f"    print(LLM({model!r}, enforce_eager=True).generate(['one'], SamplingParams(max_tokens=8)))")
    path = os.path.join(context.folder, "serve.py")
    with open(path, "w", encoding="utf-8") as out:
        out.write(code)
    _, run = context.traced([sys.executable, path])
    kernels = collections.Counter(e["pid"] for e in context.events(run) if e["event"] == "gpu_kernel")
    assert kernels, "no kernel was recorded"
    return {"kernels": list(kernels.values())}


CHECKS = [unchanged_under_us, kernels_as_it_counts, data_loader_workers, torchrun, vllm]
