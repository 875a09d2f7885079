#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Why the GPU was idle: what the report says of planted gaps, against what the doubles and the program know to be true.

The doubles know when the GPU truly ran; the small torch (tests/fakecuda) notes when each planted cause kept its thread. Both lie on
CLOCK_MONOTONIC: their intersection is what each cause must be given, within 2 % of the idle time; and no worse than what a busy
machine kept the program waiting for a CPU, which the planted times include.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", os.path.join(HERE, "..", "..", "build")))
PROFTRACE = os.path.join(BUILD, "proftrace")
TORCH = os.path.join(HERE, "..", "fakecuda", "mini_torch.py")
TOLERANCE = 0.02

# planted cause -> causes of the report that it may be told as, and the first in the list must be by far the largest
TOLD_AS = {
    "slow_file": ("file_read",),
    "lock": ("lock",),
    "python_lock": ("lock",),
    "gil": ("gil_wait", "lock", "process_start"),  # it waits for the holder to begin, too
    "python": ("python", "page_in", "native"),  # of this interpreter's own C functions some have no Python name
    "sleep": ("sleep",),
    "cuda_malloc": ("cuda_alloc", "cuda_free", "native"),  # between two calls the loop and CUPTI's double compute
    "sync_copy": ("copy", "native"),  # the double moves the bytes with memcpy
    "worker_sleep": ("data_wait",),
    "worker_slow_file": ("data_wait",),
}
# These cannot be told more than was planted; after a lock or the GIL the torch waits for its holder's end as well.
EXACT = ("slow_file", "sleep")


class Gaps(unittest.TestCase):
    def train(self, *arguments):
        """(what is true, the GPU of the report)"""
        folder = tempfile.TemporaryDirectory(prefix="proftrace-gaps-")
        self.addCleanup(folder.cleanup)
        run = os.path.join(folder.name, "run")
        environment = {**os.environ, "LD_LIBRARY_PATH": os.path.join(BUILD, "fakecuda/lib"), "PROFTRACE_BUILD": BUILD,
                       "FAKECUDA_WITNESS": os.path.join(folder.name, "witness")}
        done = subprocess.run([PROFTRACE, "run", "-o", run, "--no-report", "--", "/usr/bin/python3", TORCH, *arguments],
                              env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        true = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
        report = subprocess.run([PROFTRACE, "report", run, "--format", "json"], capture_output=True, text=True, timeout=120)
        self.assertEqual(report.returncode, 0, report.stderr)
        stage = json.loads(report.stdout)["stages"][0]
        return true, {**stage["gpu"], "runnable_s": stage["time"]["runnable_s"] or 0}

    def check(self, *arguments, causes=True):
        true, gpu = self.train(*arguments)
        device = gpu["devices"][0]
        told = {row["cause"]: row["seconds"] for row in device["idle_causes"]}
        idle_s = true["idle_of_all"]["idle_ns"] / 1e9
        self.assertAlmostEqual(device["idle_s"], idle_s, delta=0.005 * idle_s + 0.0005)
        self.assertAlmostEqual(sum(told.values()), device["idle_s"], delta=1e-5, msg=told)
        self.assertEqual(gpu["completeness_percent"], 100)
        slack = TOLERANCE * idle_s + gpu["runnable_s"]
        for cause, ns in true["idle_of_all"]["by_cause_ns"].items() if causes else ():
            names = TOLD_AS[cause]
            found = sum(told.get(name, 0) for name in names)
            self.assertGreaterEqual(found, ns / 1e9 - slack, (cause, told, true["idle_of_all"]))
            if cause in EXACT:
                self.assertLessEqual(found, ns / 1e9 + slack, (cause, told, true["idle_of_all"]))
        return told, gpu

    def assert_top(self, told, cause):
        """The largest by far; not judged where the program waited for a CPU: so did its threads, and who samples its code."""
        if told.get("runnable", 0) < 0.1 * sum(told.values()):
            self.assertEqual(max(told, key=told.get), cause, told)

    def test_each_cause_alone(self):
        for cause in ("slow_file", "lock", "python_lock", "gil", "python", "sleep", "cuda_malloc", "sync_copy"):
            with self.subTest(cause=cause):
                told, _ = self.check("--steps", "20", "--cause", f"{cause}=20")
                if cause != "sync_copy":
                    self.assert_top(told, TOLD_AS[cause][0])

    def test_causes_mixed(self):
        told, _ = self.check("--steps", "20", "--cause", "slow_file=12", "--cause", "sleep=8:2", "--cause", "lock=6:3",
                             "--cause", "cuda_malloc=4")
        self.assert_top(told, "file_read")

    def test_a_slow_worker_is_followed(self):
        """The trainer waits for a worker that sleeps, and one that reads a file; the report says so."""
        for start in ("fork", "spawn"):
            with self.subTest(start=start):
                _, gpu = self.check("--steps", "15", "--workers", "1", "--start", start, "--worker-cause", "sleep=25")
                where = [place["where"] for place in gpu["devices"][0]["idle_places"] if place["cause"] == "data_wait"]
                self.assertTrue(any("Sleep" in text for text in where), where)

    def test_threads_and_steps(self):
        """Whoever of several threads launches next answers for a gap; the sums stay exact."""
        self.check("--steps", "10", "--threads", "4", "--cause", "sleep=10", causes=False)


if __name__ == "__main__":
    if not os.path.isdir(os.path.join(BUILD, "fakecuda/lib")):
        print("the doubles of CUDA are not built here")
        sys.exit(77)
    unittest.main(verbosity=2)
