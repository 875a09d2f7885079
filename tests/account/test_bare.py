#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Without a launcher: a training under LD_PRELOAD alone has an account, too, and it is that of the launcher.

The same files are read twice: as the launcher left them, and without all that only the launcher knows (its CPU profile and its own record of
the run). What the two say of the main thread must agree; what the library read of the thread's own clock then stands against the kernel's
records of every switch. And a run that no launcher has seen at all leaves next to nothing unattributed.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from account_case import BUILD, AccountCase, stolen_s

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TRAIN = os.path.join(ROOT, "scripts", "example", "train.py")
WITHIN = 0.02  # of the wall time
MOST_UNATTRIBUTED = 0.05
# Nobody but the launcher tells these: bare, they are part of computing or of unattributed.
LAUNCHERS = ("python_s", "native_s", "page_fault_s")
# Runs the training, then says what the kernel counted for the main thread: time on CPUs, time in run queues.
WITNESS = """
import atexit, runpy, sys
atexit.register(lambda: print("schedstat", open("/proc/self/schedstat").read(), file=sys.stderr))
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Bare(AccountCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if subprocess.run(["/usr/bin/python3", "-c", "import torch, PIL"], capture_output=True, check=False).returncode:
            raise unittest.SkipTest("needs python3-torch and python3-pil")

    def setUp(self):
        super().setUp()
        self.images = os.path.join(self.folder, "images")
        subprocess.run(["/usr/bin/python3", TRAIN, "--prepare", "--data", self.images], check=True, capture_output=True, timeout=120)
        self.command = ["/usr/bin/python3", TRAIN, "--data", self.images, "--epochs", "4"]
        # Waits for pages of programs that are not in memory are unattributed here, and they may be seconds.
        subprocess.run([*self.command[:-1], "1"], check=True, capture_output=True, timeout=300)

    def time_of(self, folder):
        report = subprocess.run([os.path.join(BUILD, "proftrace"), "report", "--format", "json", folder], capture_output=True, check=True,
                                timeout=60)
        time = json.loads(report.stdout)["stages"][0]["time"]
        self.check_sum(time, time["wall_s"])
        return time

    def test_the_same_run_with_and_without_what_the_launcher_knows(self):
        run, bare, taken_s = os.path.join(self.folder, "run"), os.path.join(self.folder, "bare"), stolen_s()
        done = subprocess.run([os.path.join(BUILD, "proftrace"), "run", "-o", run, "--no-report", "--", *self.command],
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        taken_s = stolen_s() - taken_s
        os.mkdir(bare, 0o700)
        for name in os.listdir(run):
            if name.endswith((".ptr", ".pts")):
                shutil.copy(os.path.join(run, name), bare)
        launched, alone = self.time_of(run), self.time_of(bare)
        if launched["python_s"] is None:
            self.skipTest(launched["python_s_reason"])
        for time in launched, alone:  # what of the computing the allocator took, samples tell; without them it is a usual cost for each call
            time["computing_s"] += time.pop("heap_s")
        delta = WITHIN * launched["wall_s"]
        # How long it queued inside of a call, or between two readings of its clock with a wait that no hook saw, nobody knows without the
        # launcher: that time is part of the call, or unattributed. On a quiet machine it is next to nothing, beside load the smaller part.
        queued = launched["runnable_s"] + launched["page_fault_s"] - alone["runnable_s"]
        self.assertGreater(queued, -delta, (alone, launched))
        self.assertLess(queued, 0.3 * launched["runnable_s"] + launched["page_fault_s"] + delta + taken_s, (alone, launched, taken_s))
        self.assertLess(alone["unattributed_s"], launched["unattributed_s"] + queued + delta, (alone, launched))
        for part in sorted(part for part in alone if part.endswith("_s") and alone[part] is not None):
            if part not in ("runnable_s", "unattributed_s"):
                self.assertGreater(alone[part], (launched[part] or 0) - delta, (part, alone, launched))
                self.assertLess(alone[part], (launched[part] or 0) + max(queued, 0) + delta, (part, alone, launched))
        self.assertEqual([part for part in LAUNCHERS if alone[part] is not None], [])

    def test_next_to_nothing_is_unattributed(self):
        runs = os.path.join(self.folder, "runs")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PROFTRACE_")}
        environment.update(PROFTRACE_DIR=runs, LD_PRELOAD=os.path.join(BUILD, "libproftrace.so"))
        taken_s = stolen_s()
        done = subprocess.run([self.command[0], "-c", WITNESS, *self.command[1:]], env=environment, check=True, capture_output=True, text=True,
                              timeout=300)
        on_cpu_s, queued_s = (int(ns) / 1e9 for ns in re.search(r"schedstat (\d+) (\d+)", done.stderr).groups())
        taken_s = stolen_s() - taken_s
        time = self.time_of(os.path.join(runs, "latest"))
        # What it queued without being known to is unattributed: the kernel says how much that is at most.
        queued_s = max(queued_s - time["runnable_s"], 0)
        self.assertLess(time["unattributed_s"], MOST_UNATTRIBUTED * time["wall_s"] + queued_s + taken_s, (time, queued_s, taken_s))
        self.assertLess(queued_s, 0.3 * time["wall_s"], time)
        self.assertGreater(time["computing_s"], 0.8 * on_cpu_s, (time, on_cpu_s))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
