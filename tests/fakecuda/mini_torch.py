#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Trains on the doubles of CUDA with planted causes of GPU idleness, and prints what each truly cost as JSON.

    LD_LIBRARY_PATH=BUILD/fakecuda/lib FAKECUDA_WITNESS=/tmp/w PROFTRACE_BUILD=BUILD \\
        tests/fakecuda/mini_torch.py --steps 20 --cause slow_file=5 --cause lock=3:2 --workers 2 --worker-cause sleep=8

A cause is NAME=MILLISECONDS[:EVERY], before the launches of every so many-th step. Worker causes run in the workers of
the DataLoader, for each batch. The JSON has each planted span, the waits for workers, and from the witness the GPU's
idle time and the part of it that each cause explains.
"""
import argparse
import json
import os
import sys
import tempfile
import threading

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
from stolen import stolen_s  # noqa: E402
from minitorch import causes, cuda, truth  # noqa: E402
from minitorch.data import DataLoader  # noqa: E402


def parse_cause(text):
    name, _, rest = text.partition("=")
    ms, _, every = rest.partition(":")
    if name not in causes.CAUSES:
        raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(causes.CAUSES)}")
    return name, int(float(ms) * 1e6), int(every or 1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--batch-bytes", type=int, default=1 << 20)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--start", choices=("fork", "spawn"), default="fork")
    parser.add_argument("--workers-first", action="store_true", help="start the workers before CUDA is initialised")
    parser.add_argument("--prefetch", type=int, default=1)
    parser.add_argument("--cause", type=parse_cause, action="append", default=[], metavar="NAME=MS[:EVERY]")
    parser.add_argument("--worker-cause", type=parse_cause, action="append", default=[], metavar="NAME=MS")
    parser.add_argument("--pageable", action="store_true", help="copy batches from pageable memory")
    parser.add_argument("--async-loss", action="store_true", help="read the loss only at the end: launches run ahead")
    parser.add_argument("--allreduce", type=int, default=0, help="so many NCCL kernels per step, on a stream of their own")
    parser.add_argument("--threads", type=int, default=1, help="training threads, each with its own model and stream")
    parser.add_argument("--exit", choices=("return", "sys.exit", "os._exit", "exception", "SIGTERM"), default="return")
    return parser.parse_args()


class Training:
    """One thread's training, and what was planted in it."""

    def __init__(self, options, loader, folder):
        self.options, self.loader, self.folder = options, loader, folder
        self.planted, self.steps, self.collectives = [], [], None

    def plant(self, index):
        for name, ns, every in self.options.cause:
            if index % every:
                continue
            for start, end in causes.plant(name, ns, self.folder):
                self.planted.append({"cause": name, "start_ns": start, "end_ns": end, "tid": threading.get_native_id(),
                                     "step": index})

    def step(self, model, batch, data, staging):
        with cuda.nvtx_range("copy"):
            staging.buffer_from(data)
            batch.copy_(staging.tensor, non_blocking=not self.options.pageable, stream=model.stream)
        with cuda.nvtx_range("forward"):
            model.forward()
        with cuda.nvtx_range("backward"):
            model.backward()
        for _ in range(self.options.allreduce):
            cuda.launch("allreduce", 24, self.collectives)
        with cuda.nvtx_range("optimizer"):
            model.step()
            model.zero_grad()
        if not self.options.async_loss:
            with cuda.nvtx_range("loss.item"):
                cuda.check(cuda.library().mt_synchronize(model.stream))
                model.loss.item()

    def run(self):
        model = cuda.Model(self.options.layers, 1 << 20, cuda.stream())
        self.collectives = cuda.stream() if self.options.allreduce else None
        batch = cuda.Tensor(self.options.batch_bytes, "cuda")
        staging = Staging(self.options.batch_bytes, not self.options.pageable)
        for index, data in enumerate(self.loader):
            start = causes.now_ns()
            self.plant(index)
            with cuda.nvtx_range(f"ProfilerStep#{index}"):
                self.step(model, batch, data, staging)
            self.steps.append((start, causes.now_ns()))
        cuda.synchronize()


class Staging:
    """The host's side of a batch."""

    def __init__(self, n_bytes, is_pinned):
        self.tensor = cuda.Tensor(n_bytes, "pinned" if is_pinned else "cpu")

    def buffer_from(self, data):
        causes.ctypes.memmove(self.tensor.address, data, len(data))


def worker_spans(loader):
    """The part of each worker's causes for which a batch was waited for."""
    waits = truth.union(loader.waits)
    found = []
    for pid, cause, start, end in loader.spans:
        for wait_start, wait_end in waits:
            if wait_start < end and start < wait_end:
                found.append({"cause": f"worker_{cause}", "start_ns": max(start, wait_start), "end_ns": min(end, wait_end),
                              "pid": pid})
    return found


def waited_for_cpu_ns():
    """How long this thread could have run and did not, since it began; what a hypervisor took from any CPU may be its own."""
    with open("/proc/thread-self/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1]) + int(stolen_s() * 1e9)


def report(trainings, loader, waited_ns):
    waits = [{"cause": "worker", "start_ns": start, "end_ns": end} for start, end in loader.waits]
    planted = [p for t in trainings for p in t.planted] + worker_spans(loader) + waits
    totals = {}
    for p in planted:
        totals[p["cause"]] = totals.get(p["cause"], 0) + p["end_ns"] - p["start_ns"]
    out = {"pid": os.getpid(), "steps": trainings[0].steps, "planted": planted, "planted_ns": totals, "waited_for_cpu_ns": waited_ns,
           "worker_pids": loader.pids, "worker_waits": loader.waits,
           "worker_wait_ns": sum(end - start for start, end in loader.waits)}
    if os.environ.get("FAKECUDA_WITNESS"):
        out["idle_of_all"] = truth.idle_by_cause(truth.operations(os.getpid(), ("kernel", "copy", "set")), planted)
        out["idle_of_kernels"] = truth.idle_by_cause(truth.operations(os.getpid(), ("kernel",)), planted)
    print(json.dumps(out), flush=True)


def leave(how):
    if how == "sys.exit":
        sys.exit(0)
    if how == "os._exit":
        os._exit(0)
    if how == "exception":
        raise RuntimeError("planned")
    if how == "SIGTERM":
        os.kill(os.getpid(), 15)


def main():
    options = arguments()
    folder = tempfile.mkdtemp(prefix="minitorch-")
    planted = {name: ns for name, ns, _ in options.worker_cause}
    if not options.workers_first:
        cuda.synchronize()
    loader = DataLoader(options.steps, options.batch_bytes, options.workers, options.start, planted, options.prefetch, folder)
    cuda.synchronize()
    for name, _, _ in options.cause:
        causes.prepare(name, folder)
    loaders = [loader] + [DataLoader(options.steps, options.batch_bytes) for _ in range(options.threads - 1)]
    trainings = [Training(options, each, folder) for each in loaders]
    helpers = [threading.Thread(target=training.run) for training in trainings[1:]]
    for helper in helpers:
        helper.start()
    waited_ns = waited_for_cpu_ns()
    trainings[0].run()
    waited_ns = waited_for_cpu_ns() - waited_ns
    for helper in helpers:
        helper.join()
    loader.close()
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    os.rmdir(folder)
    report(trainings, loader, waited_ns)
    leave(options.exit)


if __name__ == "__main__":
    main()
