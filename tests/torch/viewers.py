#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`export --to torch` of a training on CPUs is loaded by Holistic Trace Analysis and by TensorBoard's plugin.

  viewers.py BUILD [--python PYTHON] [--viewers PYTHON]

Both are run, from PyPI, and must find what is in the file: each slice, and each operator as often as it was called. --python has PyTorch,
--viewers the readers (requirements-viewers.txt); without them they are put into BUILD once."""
import argparse
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

from run import HERE, OURS, PROGRAMS, interpreter


def export_of_training(build, python, folder):
    """The folder of the export, and the slices in it."""
    proftrace, data, out = os.path.join(build, "proftrace"), os.path.join(folder, "run"), os.path.join(folder, "export")
    env = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
    subprocess.run([proftrace, "run", "--no-report", "-o", data, "--", python, os.path.join(PROGRAMS, "cnn.py"), "fork"], cwd=folder, env=env,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=True)
    subprocess.run([proftrace, "export", data, "--to", "torch", "-o", out], stderr=subprocess.DEVNULL, timeout=300, check=True)
    (path,) = glob.glob(os.path.join(out, "*"))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return out, [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]


def problems_of(slices, found):
    calls = collections.Counter(e["name"] for e in slices if e["cat"] == "cpu_op")
    hta, (board,) = found["hta"], found["tensorboard"]["profiles"]
    total_us = sum(e["dur"] for e in slices)
    if not calls:
        yield "the training has no operators"
    if hta["slices"] != len(slices) or abs(hta["dur_us"] - total_us) > len(slices) or hta["gpu_kernels"]:
        yield f"HTA: {hta} instead of {len(slices)} slices of {total_us:.0f} us"
    if board["calls"] != calls:
        yield f"TensorBoard: calls {board['calls']} instead of {dict(calls)}"
    if not found["tensorboard"]["named_right"] or not {"Overview", "Operator", "Trace"} <= set(board["views"]):
        yield f"TensorBoard: {found['tensorboard']['named_right']}, views {board['views']}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--python")
    parser.add_argument("--viewers")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    python = arguments.python or interpreter(build)
    viewers = arguments.viewers or interpreter(build, "viewers-venv", "requirements-viewers.txt")
    with tempfile.TemporaryDirectory(prefix="torch-") as folder:
        export, slices = export_of_training(build, python, folder)
        done = subprocess.run([viewers, "-W", "ignore", os.path.join(HERE, "load_export.py"), export], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=600, check=False)
    if done.returncode:
        problems = [done.stderr.decode(errors="replace")[-2000:]]
    else:
        problems = list(problems_of(slices, json.loads(done.stdout)))
    print("FAIL" if problems else "ok  ", f"viewers: {len(slices)} slices", *problems, sep="\n     " if problems else " ")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
