#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""analyze_trace against torch.profiler's own table of the same steps; damaged and foreign files; runs of ours."""
import contextlib
import gzip
import json
import math
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


def kineto(*rows, pid=1):
    """A trace in Kineto's words: (category, name, track, start, microseconds) and (device type, device, time, bytes held)."""
    events = []
    for row in rows:
        if len(row) == 5:
            category, name, track, start, took = row
            events.append({"ph": "X", "cat": category, "name": name, "pid": pid if category == "cpu_op" else 0, "tid": track, "ts": start, "dur": took})
        else:
            kind, device, time, held = row
            events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": pid, "tid": 7, "ts": time,
                           "args": {"Total Allocated": held, "Bytes": 1, "Device Type": kind, "Device Id": device}})
    return json.dumps({"schemaVersion": 1, "traceEvents": events})


class WithGpu(unittest.TestCase):
    """Planted: what a machine with a GPU writes."""

    def analyze(self, *rows, most=10):
        with tempfile.TemporaryDirectory(prefix="package-") as folder:
            path = pathlib.Path(folder, "trace.json")
            path.write_text(kineto(*rows), encoding="ascii")
            return analyze_trace(path, most)

    def test_kernels_and_copies_by_their_time(self):
        said = self.analyze(("cpu_op", "aten::mm", 7, 0, 50.0), ("cuda_runtime", "cudaLaunchKernel", 7, 10, 5.0), ("kernel", "sgemm", 20, 30, 400.0),
                            ("kernel", "sgemm", 24, 100, 250.5), ("kernel", "elementwise", 20, 440, 60.0), ("gpu_memcpy", "Memcpy HtoD", 28, 20, 100.0),
                            ("gpu_memset", "Memset", 20, 510, 1.25), ("gpu_user_annotation", "ProfilerStep#1", 20, 0, 600.0))
        # Kernels of two streams run at once: both count.
        self.assertEqual(said["top_cuda_ops"], [("sgemm", 650.5), ("Memcpy HtoD", 100.0), ("elementwise", 60.0), ("Memset", 1.25)])
        self.assertEqual(said["top_cpu_ops"], [("aten::mm", 50.0)])
        self.assertTrue(math.isnan(said["dataloader_time_pct"]))
        self.assertEqual(self.analyze(("kernel", "a", 20, 0, 1.0), ("kernel", "b", 20, 9, 2.0), most=1)["top_cuda_ops"], [("b", 2.0)])

    def test_each_device_has_a_curve_of_its_own(self):
        """Of the CPU 10, 90, 20; of the GPU, which holds much more, it only ever grows: one peak each, though they tell in turn."""
        said = self.analyze((0, -1, 1, 10), (1, 0, 2, 1000), (0, -1, 3, 90), (1, 0, 4, 2000), (0, -1, 5, 20), (1, 0, 6, 3000))
        self.assertEqual((said["memory_peaks"], said["memory_peaks_reason"]), ([(6.0, 3000), (3.0, 90)], None))

    def test_without_memory_events_it_says_why(self):
        said = self.analyze(("kernel", "a", 20, 0, 1.0))
        self.assertEqual((said["memory_peaks"], said["memory_peaks_reason"]), ([], "the trace was made without profile_memory"))


class Others(unittest.TestCase):
    def test_no_trace_is_said_so(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"name": "nothing"}')
            file.flush()
            with self.assertRaisesRegex(ValueError, "no Chrome trace"):
                analyze_trace(file.name)

    def test_as_a_command_it_says_so_in_a_line(self):
        with tempfile.TemporaryDirectory(prefix="package-") as folder:
            for name, content, wanted in [("number.json", b'{"traceEvents": 3}', "no Chrome trace"), ("cut.json.gz", gzip.compress(b"[" + b" " * 5000)[:20], "end-of-stream"),
                                          ("folder", None, "folder")]:
                path = os.path.join(folder, name)
                if content is None:
                    os.mkdir(path)
                else:
                    pathlib.Path(path).write_bytes(content)
                done = subprocess.run([sys.executable, "-m", "proftrace.analyze", path], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)}, check=False)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (3, "", 1), done.stderr)
                self.assertIn(wanted, done.stderr)
            pathlib.Path(folder, "empty.json").write_text('{"traceEvents": []}')
            done = subprocess.run([sys.executable, "-m", "proftrace.analyze", os.path.join(folder, "empty.json")], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)}, check=True)
            self.assertIsNone(json.loads(done.stdout)["dataloader_time_pct"])

    def test_a_run_of_ours(self):
        with tempfile.TemporaryDirectory(prefix="package-") as folder:
            program = "def burn():\n    return sum(i * i for i in range(8000000))\nburn()\n"
            subprocess.run([BUILD / "proftrace", "run", "--no-report", "-o", f"{folder}/run", sys.executable, "-c", program], capture_output=True, check=True)
            said = analyze_trace(f"{folder}/run")
        self.assertGreater(said["top_cpu_ops"][0][1], 1000)
        self.assertEqual((said["top_cuda_ops"], said["memory_peaks"]), ([], []))
        self.assertIn("no window of torch.profiler", said["memory_peaks_reason"])

    def test_a_run_with_a_profiler_window(self):
        """Its operators are those of the window's trace."""
        with self.window("skip_first=3,active=2") as (folder, window):
            has_kineto = b'"traceEvents"' in window.read_bytes()
            of_run, of_window = dict(analyze_trace(f"{folder}/run", 1000)["top_cpu_ops"]), dict(analyze_trace(window, 1000)["top_cpu_ops"])
        for name in filter(lambda name: name.startswith("aten::"), of_run):
            us = of_run[name]
            if has_kineto:  # others write whole microseconds: what contains what is lost there
                self.assertAlmostEqual(us, of_window[name], delta=0.01 * us + 2, msg=name)
            self.assertIn(name, of_window)
        self.assertIn("aten::addmm", of_run)

    def test_the_memory_peaks_of_a_run_are_those_of_its_windows(self):
        with self.window("skip_first=3,active=2,repeat=2,profile_memory") as (folder, *windows):
            if b'"traceEvents"' not in windows[0].read_bytes():
                self.skipTest(f"the PyTorch of {PYTHON} writes no memory events")
            of_run, of_windows = analyze_trace(f"{folder}/run"), [analyze_trace(one)["memory_peaks"] for one in windows]
        self.assertEqual(len(of_windows), 2)
        self.assertTrue(all(of_windows))
        self.assertEqual((of_run["memory_peaks"], of_run["memory_peaks_reason"]), (sorted(sum(of_windows, []), key=lambda one: (-one[1], one[0]))[:10], None))

    def test_a_window_without_profile_memory_has_no_peaks(self):
        with self.window("skip_first=3,active=2") as (folder, _):
            said = analyze_trace(f"{folder}/run")
        self.assertEqual((said["memory_peaks"], said["memory_peaks_reason"]), ([], "the trace was made without profile_memory"))

    @contextlib.contextmanager
    def window(self, settings):
        """The folder of a run, and the traces of its windows."""
        if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode:
            self.skipTest(f"{PYTHON} has no PyTorch")
        with tempfile.TemporaryDirectory(prefix="package-") as folder:
            subprocess.run([BUILD / "proftrace", "run", "--no-report", "-o", f"{folder}/run", PYTHON, HERE.parent / "python" / "programs" / "windowed.py"],
                           capture_output=True, check=True, env={**os.environ, "PROFTRACE_WINDOW": settings})
            yield folder, *sorted(pathlib.Path(f"{folder}/run/torch/Net").iterdir())


if __name__ == "__main__":
    unittest.main()
