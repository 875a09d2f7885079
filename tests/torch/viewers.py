#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of trainings on CPUs are loaded by Holistic Trace Analysis and by TensorBoard's plugin: `export --to torch` of what proftrace saw, the
same of a run's profiler windows, and the folder of the callback for Lightning.

  viewers.py BUILD [--python PYTHON] [--viewers PYTHON] [NAME...]      names: seen, windows, callback

Both are run, from PyPI, and must find what is in the files: each slice, and each operator as often as it was called. --python has PyTorch,
--viewers the readers (requirements-viewers.txt); without them they are put into BUILD once."""
import argparse
import collections
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile

from run import HERE, OURS, PROGRAMS, interpreter

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "preload", "python")


def run(command, folder, **more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
    subprocess.run(command, cwd=folder, env={**environment, "PYTHONDONTWRITEBYTECODE": "1", **more}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600,
                   check=True)


def export(build, python, folder, **more):
    proftrace, data, out = os.path.join(build, "proftrace"), os.path.join(folder, "run"), os.path.join(folder, "export")
    run([proftrace, "run", "--no-report", "-o", data, "--", python, os.path.join(PROGRAMS, "cnn.py"), "fork"], folder, **more)
    run([proftrace, "export", data, "--to", "torch", "-o", out], folder)
    return out


def seen(build, python, folder):
    return export(build, python, folder)


def windows(build, python, folder):
    return os.path.join(export(build, python, folder, PROFTRACE_WINDOW="skip_first=1,active=2,repeat=2"), "Sequential")


def callback(build, python, folder):
    run([python, os.path.join(PROGRAMS, "callback.py"), folder], folder, PYTHONPATH=PACKAGE, PROFTRACE_COMMAND=os.path.join(build, "proftrace"))
    return os.path.join(folder, "Model")


# Each makes a folder; how many traces are in it, and an operator that a step of it calls, and how often in all.
KINDS = {seen: (1, None, 0), windows: (2, "aten::conv2d", 4), callback: (2, "aten::linear", 6)}


def slices_in(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    # The profiler's own time is no part of what was profiled: both readers leave it out.
    return [e for e in events if e["ph"] == "X" and e.get("cat") != "Trace"]


def until_the_last_step(slices):
    """What HTA keeps, which rounds a beginning up and an end down to microseconds, and counts beginnings from the first one, but not ends."""
    steps = [e for e in slices if e["name"].startswith("ProfilerStep#")]
    last = max((math.floor(e["ts"] + e["dur"]) for e in steps), default=0)
    first = min((math.ceil(e["ts"]) for e in slices), default=0)
    return [e for e in slices if math.ceil(e["ts"]) - first <= last] if len({e["name"] for e in steps}) > 1 else slices


def operators_in(slices):
    return collections.Counter(e["name"] for e in slices if e["cat"] == "cpu_op")


def by_calls(profiles):
    """In an order of their own: TensorBoard numbers the spans of a worker as it likes."""
    return sorted(sorted(calls.items()) for calls in profiles)


def problems_of(folder, found, n_traces, operator, n_calls):
    if len(found["names"]) != n_traces or len(found["tensorboard"]) != n_traces:
        yield f"{found['names']} and {len(found['tensorboard'])} profiles in TensorBoard instead of {n_traces}"
        return
    slices = [slices_in(os.path.join(folder, name)) for name in found["names"]]
    calls = [operators_in(own) for own in slices]
    if not all(calls) or operator and any(own[operator] != n_calls for own in calls):
        yield f"{operator} is called {[own[operator] for own in calls]} times instead of {n_calls}"
    for name, own, hta in zip(found["names"], map(until_the_last_step, slices), found["hta"]):
        total_us = sum(e["dur"] for e in own)
        if hta["slices"] != len(own) or abs(hta["dur_us"] - total_us) > 2 * len(own) or hta["gpu_kernels"] or hta["calls"] != operators_in(own):
            yield f"HTA: {hta} instead of {len(own)} slices of {total_us:.0f} us in {name}"
    if by_calls(board["calls"] for board in found["tensorboard"]) != by_calls(calls):
        yield f"TensorBoard: calls {found['tensorboard']} instead of {calls}"
    for board in found["tensorboard"]:
        if not {"Overview", "Operator", "Trace"} <= set(board["views"]):
            yield f"TensorBoard: views {board['views']}"


def play(kind, build, python, viewers):
    with tempfile.TemporaryDirectory(prefix="torch-") as folder:
        made = kind(build, python, folder)
        done = subprocess.run([viewers, "-W", "ignore", os.path.join(HERE, "load_export.py"), made], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=600, check=False)
        if done.returncode:
            return [done.stderr.decode(errors="replace")[-2000:]], 0
        found = json.loads(done.stdout)
        return list(problems_of(made, found, *KINDS[kind])), sum(one["slices"] for one in found["hta"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--python")
    parser.add_argument("--viewers")
    arguments = parser.parse_intermixed_args()
    build = os.path.abspath(arguments.build)
    python = arguments.python or interpreter(build)
    viewers = arguments.viewers or interpreter(build, "viewers-venv", "requirements-viewers.txt")
    failed = 0
    for kind in KINDS:
        if arguments.names and kind.__name__ not in arguments.names:
            continue
        problems, n_slices = play(kind, build, python, viewers)
        failed += bool(problems)
        print("FAIL" if problems else "ok  ", f"{kind.__name__}: {n_slices} slices", *problems, sep="\n     " if problems else " ", flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
