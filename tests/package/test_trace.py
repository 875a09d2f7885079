#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""analyze_trace against torch.profiler's own table of the same steps; damaged and foreign files; runs of ours."""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"])
PACKAGE = HERE.parent.parent / "preload/python"
sys.path.insert(0, str(PACKAGE))
os.environ["PROFTRACE_COMMAND"] = str(BUILD / "proftrace")
from proftrace.trace import analyze_trace, read_trace  # noqa: E402

PYTHON = os.environ.get("PROFTRACE_TEST_TORCH", "/usr/bin/python3")
PROGRAM = """
import json, sys, torch
from torch.profiler import profile, schedule
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 30 * 30, 10))
loader = torch.utils.data.DataLoader([(torch.randn(3, 32, 32), i % 10) for i in range(64)], batch_size=8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with profile(record_shapes=True, profile_memory=True, schedule=schedule(wait=0, warmup=1, active=5, repeat=1)) as profiler:
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        profiler.step()
        if profiler.step_num == 6:
            break
profiler.export_chrome_trace(sys.argv[1])
print(json.dumps({one.key: [one.count, one.self_cpu_time_total, one.cpu_time_total] for one in profiler.key_averages()}))
"""


class OfPyTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode:
            raise unittest.SkipTest(f"{PYTHON} has no PyTorch")
        folder = tempfile.TemporaryDirectory(prefix="package-")
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name, "trace.json")
        done = subprocess.run([PYTHON, "-c", PROGRAM, cls.path], capture_output=True, text=True, check=True, timeout=300)
        cls.table = json.loads(done.stdout)
        cls.has_kineto = b'"traceEvents"' in cls.path.read_bytes()

    def test_totals_are_those_of_its_own_table(self):
        trace = read_trace(self.path)
        operators = {name: row for name, row in self.table.items() if name.startswith("aten::")}
        self.assertGreater(len(operators), 20)
        for name, (calls, self_us, total_us) in operators.items():
            ours = trace.cpu[name]
            self.assertEqual(ours.calls, calls, name)
            # Times are whole microseconds in older versions, of each call.
            self.assertAlmostEqual(ours.total_us, total_us, delta=2 * calls + 0.02 * total_us, msg=name)
            if self.has_kineto:  # the table of others takes a call that ends a rounded microsecond after its caller for nobody's
                self.assertAlmostEqual(ours.self_us, self_us, delta=3 * calls + 0.02 * self_us, msg=name)

    def test_the_dictionary_of_the_document(self):
        said = analyze_trace(self.path)
        by_self = sorted(((name, row[1]) for name, row in self.table.items() if name.startswith("aten::")), key=lambda one: -one[1])
        self.assertEqual(next(name for name, _ in said["top_cpu_ops"] if name.startswith("aten::")), by_self[0][0])
        self.assertEqual(said["top_cuda_ops"], [])
        if self.has_kineto:  # Debian's PyTorch is built without it
            self.assertGreater(said["memory_peaks"][0][1], 0)
        self.assertTrue(0 < said["dataloader_time_pct"] < 100)

    def test_packed_and_cut(self):
        whole = self.path.read_bytes()
        with tempfile.TemporaryDirectory(prefix="package-") as folder:
            packed, cut = pathlib.Path(folder, "a.json.gz"), pathlib.Path(folder, "b.json")
            packed.write_bytes(gzip.compress(whole))
            cut.write_bytes(whole[:len(whole) * 2 // 3])
            self.assertEqual(repr(analyze_trace(packed)), repr(analyze_trace(self.path)))
            self.assertTrue(analyze_trace(cut)["top_cpu_ops"])


class Others(unittest.TestCase):
    def test_no_trace_is_said_so(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"name": "nothing"}')
            file.flush()
            with self.assertRaisesRegex(ValueError, "no Chrome trace"):
                analyze_trace(file.name)

    def test_a_run_of_ours(self):
        with tempfile.TemporaryDirectory(prefix="package-") as folder:
            program = "def burn():\n    return sum(i * i for i in range(8000000))\nburn()\n"
            subprocess.run([BUILD / "proftrace", "run", "--no-report", "-o", f"{folder}/run", sys.executable, "-c", program], capture_output=True, check=True)
            said = analyze_trace(f"{folder}/run")
        self.assertGreater(said["top_cpu_ops"][0][1], 1000)
        self.assertEqual(said["top_cuda_ops"], [])

    def test_a_run_with_a_profiler_window(self):
        """Its operators are those of the window's trace."""
        program = HERE.parent / "python" / "programs" / "windowed.py"
        with tempfile.TemporaryDirectory(prefix="package-") as folder:
            environment = {**os.environ, "PROFTRACE_WINDOW": "skip_first=3,active=2"}
            subprocess.run([BUILD / "proftrace", "run", "--no-report", "-o", f"{folder}/run", PYTHON, program], capture_output=True, check=True, env=environment)
            (window,) = pathlib.Path(f"{folder}/run/torch/Net").iterdir()
            has_kineto = b'"traceEvents"' in window.read_bytes()
            of_run, of_window = dict(analyze_trace(f"{folder}/run", 1000)["top_cpu_ops"]), dict(analyze_trace(window, 1000)["top_cpu_ops"])
        for name in filter(lambda name: name.startswith("aten::"), of_run):
            us = of_run[name]
            if has_kineto:  # others write whole microseconds: what contains what is lost there
                self.assertAlmostEqual(us, of_window[name], delta=0.01 * us + 2, msg=name)
            self.assertIn(name, of_window)
        self.assertIn("aten::addmm", of_run)


if __name__ == "__main__":
    unittest.main()
