#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Python keeps is found by file and line: its own objects, and blocks of malloc that it asked for. `proftrace run`, as a user does."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import clean_loops
import pythons

# `kept` is the line that the finding must name: the one that ends with # kept.
LEAKS = {
    "tuples": ("", "kept.extend((i, k) for k in range(6000)) # kept"),
    "strings": ("", "for k in range(6000):\n        kept.append(str(k) * 3) # kept"),
    "instances": ("class Row:\n    def __init__(self, n):\n        self.n = n", "for k in range(3000):\n        kept.append(Row(k)) # kept"),
    "lists_in_a_dict": ("table = {}", "for k in range(3000):\n        table[i, k] = [k, k + 1, k + 2] # kept"),
    "bytes": ("", "kept.append(bytes(900_000)) # kept"),
    "numpy": ("import numpy", "kept.append(numpy.ones(120_000)) # kept"),
    "torch": ("import torch", "kept.append(torch.ones(400, 400)) # kept"),
}
TRAINING = """\
import torch
def much(where):
    if where == "PLANTED":
        torch.ones(75_000_000)
class Double(torch.autograd.Function):
    @staticmethod
    def forward(context, data):
        much("forward")
        return data * 2
    @staticmethod
    def backward(context, gradient):
        much("backward")
        return gradient * 2
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 64)
    def forward(self, data):
        return Double.apply(self.layer(data))
class Descent(torch.optim.SGD):
    def step(self, closure=None):
        much("last")
        return super().step(closure)
net = Net()
optimizer = Descent(net.parameters(), lr=0.01)
for _ in range(10):
    optimizer.zero_grad()
    net(torch.ones(8, 64)).sum().backward()
    optimizer.step()
    much("between")
"""
# As many small objects as were freed, when malloc has no block left for one that is sampled.
WITHOUT_MEMORY = """\
import resource
spare = [bytes(100) for _ in range(200_000)]
hold, new, at, failed = [None] * 300_000, [None] * 90_000, 0, 0
numbers = list(range(300_000))
to_free, to_make, small = iter(numbers[:200_000:2]), iter(numbers[:90_000]), iter([480] * 2)

def fill(sizes):  # until malloc has none left
    global at
    for size in sizes:
        try:
            while True:
                hold[at] = bytes(size)
                at = numbers[at + 1]
        except MemoryError:
            pass

bytes_now = int(open("/proc/self/statm").read().split()[0]) << 12
resource.setrlimit(resource.RLIMIT_AS, (bytes_now, bytes_now))
fill([1 << 20, 1 << 16, 4096, 1024, 480])
for n in to_free:
    spare[n] = None
fill(small)
for n in to_make:
    try:
        new[n] = bytes(100)
    except MemoryError:
        failed += 1
hold = None
print(failed)
"""
PROGRAM = """\
import time
{before}
kept = []
def churn():
    return [(k, str(k)) for k in range(3000)]
def step(i):
    {step}
start = time.monotonic()
for i in range(100):
    step(i)
    churn()
    time.sleep(max(0, start + 0.025 * (i + 1) - time.monotonic()))  # evenly, however busy the machine is
"""


def has(python, module):
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False, timeout=120).returncode == 0


class Leaks(unittest.TestCase):
    def check(self, python, leak):
        before, step = LEAKS[leak]
        text = PROGRAM.format(before=before, step=step)
        line = next(n for n, line in enumerate(text.splitlines(), 1) if line.endswith("# kept"))
        findings = clean_loops.findings(python.path, text)
        grows = [f for f in findings if f["rule"] == "heap_growth"]
        self.assertEqual(len(grows), 1, [f["rule"] for f in findings])
        place = grows[0]["place"]
        self.assertEqual((place.get("line"), place.get("file", "").rpartition("/")[2]), (line, "program.py"), grows[0])

    def test_pymalloc_on_each_python(self):
        for python in pythons.some():
            with self.subTest(str(python)):
                self.check(python, "tuples")

    def test_kinds(self):
        for leak in "strings", "lists_in_a_dict", "bytes":
            with self.subTest(leak):
                self.check(pythons.found()[-1], leak)

    def test_extensions(self):
        for module in "numpy", "torch":
            able = [python for python in pythons.found() if has(python.path, module)]
            with self.subTest(module):
                if not able:
                    self.skipTest(f"no Python here has {module}")
                self.check(able[-1], module)


class Peaks(unittest.TestCase):
    """The phase in which more memory lived than ever before or after: planted in each, 300 MB that are given back at once."""

    def test_phase_at_the_peak(self):
        python = next((python.path for python in reversed(pythons.found()) if has(python.path, "torch")), None)
        if not python:
            self.skipTest("no Python here has torch")
        for planted, phase in ("forward", "forward"), ("backward", "backward"), ("between", "between phases"), ("last", "optimizer_step"):
            with self.subTest(planted):
                stage = clean_loops.report(python, TRAINING.replace("PLANTED", planted))["stages"][0]
                self.assertGreater(stage["heap"]["live_bytes_peak_of_largest_process"], 300e6)
                self.assertEqual(stage["heap"]["live_peak_phase"], phase)


class Source(unittest.TestCase):
    """The file beside what its lines hold: a list that keeps 114 MiB, made in a function that another line calls."""

    def test_memory_stands_beside_the_line_that_allocates(self):
        text = "import time\nkept = []\ndef load(n):\n    return [bytearray(200_000) for _ in range(n)]\nfor _ in range(60):\n    kept.extend(load(10))\n    time.sleep(0.02)\n"
        with tempfile.TemporaryDirectory(prefix="python-memory-") as folder:
            program = pathlib.Path(folder, "keeps.py")
            program.write_text(text, encoding="utf-8")
            os.utime(program, (1, 1))
            subprocess.run([pythons.BUILD / "proftrace", "run", "--no-report", "-o", f"{folder}/run", pythons.found()[-1].path, program],
                           env=pythons.clean_environment(), capture_output=True, timeout=180, check=True)
            shown = subprocess.run([pythons.BUILD / "proftrace", "report", f"{folder}/run", "--source", "keeps.py"], capture_output=True, text=True, check=True).stdout
        line = next(line for line in shown.splitlines() if "bytearray" in line)
        held, grew = (float(number) for number in re.findall(r"([\d.]+) MiB", line))
        self.assertAlmostEqual(held, 114.4, delta=12)
        self.assertAlmostEqual(grew, 114.4, delta=25)
        for share in re.findall(r"(\d+) %", shown):
            self.assertLessEqual(int(share), 100, shown)


class Allocator(unittest.TestCase):
    """The program sees what it would see without us."""

    def same(self, text, *arguments, **environment):
        for python in pythons.some():
            with self.subTest(str(python)):
                answers = [clean_loops.output(python.path, text, traced, *arguments, **environment) for traced in (False, True)]
                self.assertEqual(*answers)

    def test_blocks_are_counted_as_before(self):
        self.same("import sys\na = sys.getallocatedblocks()\nx = [[k] * 3 for k in range(300000)]\nb = sys.getallocatedblocks()\n"
                  "print((b - a) // 100)\ndel x\nprint((sys.getallocatedblocks() - a) // 100)")

    def test_objects_that_fit_when_malloc_has_none_left(self):
        self.same(WITHOUT_MEMORY)

    def test_tracemalloc(self):
        self.same("import tracemalloc\ntracemalloc.start(3)\nx = [[k] * 3 for k in range(100000)]\n"
                  "top = tracemalloc.take_snapshot().statistics('lineno')[0]\nprint(top.traceback[0].lineno, top.count // 1000, top.size // 100000)\n"
                  "tracemalloc.stop()\ndel x\ny = [(k, k) for k in range(100000)]\nprint(len(y))")

    def test_other_allocators(self):
        text = "x = [[k] for k in range(300000)]\ndel x\nprint(sum(len(str(k)) for k in range(300000)))"
        for allocator in "malloc", "debug", "malloc_debug", "pymalloc", "pymalloc_debug", "default":
            self.same(text, PYTHONMALLOC=allocator)
        self.same(text, "-X", "dev")

    def test_forks_and_threads(self):
        self.same("import os, threading\nx = [[k] for k in range(200000)]\nfor _ in range(5):\n    pid = os.fork()\n    if not pid:\n"
                  "        del x\n        y = [{k: k} for k in range(100000)]\n        os._exit(len(y) == 100000)\n    print(os.waitpid(pid, 0)[1])\n"
                  "ts = [threading.Thread(target=lambda: [[k] for k in range(100000)]) for _ in range(4)]\n"
                  "[t.start() for t in ts]; [t.join() for t in ts]\nprint(len(x))", "-W", "ignore")


if __name__ == "__main__":
    sys.exit(unittest.main())
