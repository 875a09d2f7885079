#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs as people write them on a current PyTorch, and the bottlenecks that are planted in some.

  run.py BUILD [--python PYTHON] [NAME...]

Each program runs without us and with us: the same output and the same end; its account is that of the process that works, not of the
launcher that waits for it. Of a planted bottleneck the right finding must come first. The packages (requirements.txt) are put into
BUILD/torch-venv once; --python is an interpreter that has them."""
import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
OURS = ("PROFTRACE_", "LD_PRELOAD")
NOISE = ("noisy_neighbour", "stolen_cpus", "reference_blas", "cpu_above_threshold", "memory_above_threshold", "disk_above_threshold")
WAITING = ("child_wait_s", "sleep_s", "idle_s")  # what a launcher does


class Program:
    """`first`: the rules of which one must be the first finding; None: whatever. `waits`: whether its main process is allowed to wait for
    most of the time; `code`: how it ends; `in_seconds`: whether its bound is held against what taking the advice brings."""

    def __init__(self, name, command, first=None, waits=False, code=0, stdin=None, ignore=None, in_seconds=False):
        self.name, self.command, self.first, self.waits, self.code = name, command, first, waits, code
        self.stdin, self.ignore, self.in_seconds = stdin, ignore, in_seconds


TORCHRUN = "{bin}/torchrun --nproc-per-node 2 {programs}/ddp.py"
KINDS = [
    Program("cnn_fork", "{python} {programs}/cnn.py fork"),
    Program("cnn_spawn", "{python} {programs}/cnn.py spawn", first="workers_start"),
    Program("cnn_forkserver", "{python} {programs}/cnn.py forkserver"),
    Program("ddp", TORCHRUN, first="rank_imbalance"),
    Program("compile", "sh -c '{python} {programs}/compiled.py; true'", waits=True),
    Program("lightning", "{python} {programs}/lightning_fit.py"),
    Program("gpt2", "{python} {programs}/gpt2.py"),
    Program("profiler", "{python} {programs}/profiled.py"),
    Program("serve", "{python} {programs}/serve.py", waits=True),
    Program("killed", "{python} {programs}/dies.py kill", code=-signal.SIGKILL),
    Program("worker_killed", "{python} {programs}/dies.py worker", code=1, ignore=r"pid[ (\w,)]*\d+"),
    Program("ctrl_c", "{python} {programs}/dies.py interrupt", code=-signal.SIGINT),
    Program("pool", "{python} {programs}/pool_cv.py", waits=True),
    Program("tables", "{python} {programs}/tables.py"),
    Program("notebook", "{bin}/jupyter-nbconvert --to notebook --execute --stdout --log-level ERROR {programs}/notebook.ipynb",
            ignore=r'"(iopub|shell)\.[^"]*": "[^"]*"|20\d\d-\d\d-\d\dT[0-9:.]+Z?|"id": "\w+"'),
    Program("typed", "{python} -q -i", stdin="typed.txt"),
]
PLANTED = [Program(name, f"{{python}} {{programs}}/planted.py {name}", first=first, waits=True, in_seconds=name == "optimizer")
           for name, first in {
    "slow_jpeg": "loading_in_main",
    "slow_color_jitter": "too_few_workers dataloader_cpu_bound",
    "slow_collate": "too_few_workers",
    "tiny_files": "loading_in_main",
    "featurize": "python_in_training",
    "batch_of_one": "tiny_operations",
    "cells": "tiny_operations",
    "optimizer": "unfused_optimizer",
    "openmp": "oversubscribed_threads",
    "gil_pool": "gil_contention",
    "checkpoints": "synchronous_fsync costly_checkpoints",  # where the disk makes the making of the files wait
    "fetches": "serial_fetches",
    "slow_batches": "too_few_workers",
    "kept_tensors": "heap_growth",
}.items()]


def interpreter(build, name="torch-venv", requirements="requirements.txt"):
    """A Python with what `requirements` names, made once."""
    requirements = os.path.join(HERE, requirements)
    with open(requirements, "rb") as file:
        stamp = hashlib.sha256(file.read()).hexdigest()
    folder = os.path.join(build, name)
    python, made = os.path.join(folder, "bin", "python"), os.path.join(folder, "made")
    if os.path.exists(made) and open(made, encoding="ascii").read() == stamp:
        return python
    print(f"installing {os.path.basename(requirements)} into {folder}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "-r", requirements], check=True, timeout=3000)
    with open(made, "w", encoding="ascii") as file:
        file.write(stamp)
    return python


def start(program, folder, python, prefix, environment):
    """(exit code, output) of the program behind `prefix`."""
    command = program.command.format(python=python, bin=os.path.dirname(python), programs=PROGRAMS)
    words = ["bash", "-c", f"exec {command}"]
    stdin = open(os.path.join(PROGRAMS, program.stdin), "rb") if program.stdin else subprocess.DEVNULL
    done = subprocess.run([*prefix, *words], cwd=folder, env=environment, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900,
                          check=False)
    text = done.stdout.decode(errors="replace")
    return done.returncode, re.sub(program.ignore, "", text) if program.ignore else text, done.stderr.decode(errors="replace")


def as_shell(code):
    return 128 - code if code < 0 else code


def problems_of(program, plain, traced, report):
    problems = []
    if plain[0] != program.code:
        problems.append(f"without us it ends with {plain[0]}: {plain[2][-1500:]}")
    if as_shell(plain[0]) != as_shell(traced[0]):
        problems.append(f"ends with {traced[0]}, not {plain[0]}: {traced[2][-1500:]}")
    if plain[1] != traced[1]:
        problems.append(f"another output: {traced[1][-500:]!r} instead of {plain[1][-500:]!r}")
    account = report["stages"][0]["time"]
    waited = sum(account[key] or 0 for key in WAITING)
    if not program.waits and waited > 0.4 * account["wall_s"]:
        problems.append(f"the account is of somebody who waits: {waited:.2f} of {account['wall_s']:.2f} s")
    findings = [f for f in report["findings"] if f["rule"] not in NOISE]
    if program.first and (not findings or findings[0]["rule"] not in program.first.split()):
        problems.append(f"the first finding is not {program.first}")
    return problems


def report_in(data):
    with open(os.path.join(data, "latest", "report.json"), encoding="utf-8") as file:
        return json.load(file)


def report_of_fixed(build, program, work, python, base, data):
    """Of the program as somebody left it who took the advice."""
    fixed = Program(program.name, program.command + " --fixed")
    start(fixed, work, python, [os.path.join(build, "proftrace"), "run", "--stage", program.name, "--"], {**base, "PROFTRACE_DIR": data})
    return report_in(data)


def problems_of_bound(report, fixed):
    """The bound is what taking the advice brings, up to 1.3 times of it. Two runs of the same program differ by some percent."""
    first, gain_s = report["findings"][0], report["total_duration_s"] - fixed["total_duration_s"]
    problems = [f"its fixed form still has {first['rule']}"] if any(f["rule"] == first["rule"] for f in fixed["findings"]) else []
    slack_s = 0.03 + 0.05 * report["total_duration_s"]
    if not gain_s - slack_s <= first["gain_upper_s"] <= 1.3 * gain_s + slack_s:
        problems.append(f"up to {first['gain_upper_s']:.2f} s are promised, {gain_s:.2f} s were gained")
    return problems


def play(build, program, python):
    folder = os.path.realpath(tempfile.mkdtemp(prefix="torch-"))
    base = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
    base["PYTHONDONTWRITEBYTECODE"] = "1"
    work, data = os.path.join(folder, "work"), os.path.join(folder, "data")
    try:
        os.mkdir(work)
        plain = start(program, work, python, [], base) if not program.first or program in KINDS else None
        if plain is None:  # what its files are made of is not to be judged
            start(Program("", program.command + " --fixed"), work, python, [], base)
        for name in os.listdir(work):
            if plain is not None and name not in ("images",):
                path = os.path.join(work, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        traced = start(program, work, python, [os.path.join(build, "proftrace"), "run", "--stage", program.name, "--"], {**base, "PROFTRACE_DIR": data})
        if plain is None:
            plain = (program.code, traced[1], "")
        report = report_in(data)
        problems = problems_of(program, plain, traced, report)
        gained = ""
        if program.in_seconds:
            fixed = report_of_fixed(build, program, work, python, base, data)
            problems += problems_of_bound(report, fixed)
            gained = f"; gain {report['total_duration_s'] - fixed['total_duration_s']:.2f} s"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    told = ", ".join(f"{f['rule']} {f['gain_upper_s'] or 0:.2f} s" for f in report["findings"][:4]) or "nothing"
    return problems, f"{report['total_duration_s']:.2f} s: {told}{gained}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--python")
    arguments = parser.parse_intermixed_args()
    build = os.path.abspath(arguments.build)
    python = arguments.python or interpreter(build)
    failed = []
    for program in [p for p in KINDS + PLANTED if not arguments.names or p.name in arguments.names]:
        problems, line = play(build, program, python)
        print(f"{'FAIL' if problems else 'ok  '} {program.name}: {line}", flush=True)
        for problem in problems:
            print(f"     {problem}", flush=True)
        failed += [program.name] if problems else []
    print("failed:" if failed else "all as they should be", *failed)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
