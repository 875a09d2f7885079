#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The time account of a stage against waits of known length: each part within 2 % of the wall time, all parts 100 % of it.

The programs say by their own clocks how long each wait took; the machine may be busy, so what they asked for is no witness.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from account_case import thrice

BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build"))
PROFTRACE = os.path.join(BUILD, "proftrace")
WAITS = os.environ.get("ACCOUNT_WAITS", os.path.join(BUILD, "tests", "account", "account_waits"))
PART = {"sleep": "sleep_s", "lock": "lock_s", "cond": "lock_s", "pipe": "data_wait_s", "child": "child_wait_s",
        "server": "network_s", "compute": "native_s", "python": "python_s"}
TOLERANCE = 0.02

PYTHON = """
import os, queue, subprocess, sys, threading, time
took = {}
def timed(part, action):
    clock = time.thread_time_ns if part == 'python' else time.monotonic_ns
    start = clock(); action(); took[part] = took.get(part, 0) + clock() - start
def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(i * i for i in range(20000))
def queue_later(q, seconds):
    time.sleep(seconds); q.put(1)
def from_thread(seconds):
    q = queue.Queue(); threading.Thread(target=queue_later, args=(q, seconds)).start(); q.get()
def from_pipe(seconds):
    r, w = os.pipe()
    if not os.fork():
        time.sleep(seconds); os.write(w, b'x'); os._exit(0)
    os.read(r, 1)
"""


class Account(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="account-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_it(self, *command):
        """The parts that the program says it spent, in seconds, and the stage of the report."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PROFTRACE_") and k != "LD_PRELOAD"}
        environment["PROFTRACE_DIR"] = os.path.join(self.folder, "runs")
        done = subprocess.run([PROFTRACE, "run", "--stage", "planted", "--", *command], env=environment, cwd=self.folder,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        took = collections.Counter()
        for line in done.stdout.splitlines():
            part, ns = line.split()
            took[PART[part]] += int(ns) / 1e9
        with open(os.path.join(self.folder, "runs/latest/report.json"), encoding="utf-8") as file:
            stages = json.load(file)["stages"]
        return took, next(stage for stage in stages if stage["stage"] == "planted")

    @thrice
    def check(self, *command):
        took, stage = self.run_it(*command)
        time = stage["time"]
        wall = time["wall_s"]
        parts = {key: value or 0 for key, value in time.items() if key.endswith("_s") and key != "wall_s"}
        self.assertAlmostEqual(sum(parts.values()), wall, delta=1e-6 + 1e-9 * wall, msg=f"the parts do not add up: {parts}")
        for key, expected in took.items():
            if time[key] is None:
                continue  # unknown, with the reason, and part of unattributed
            # Whoever was preempted within a call was not waiting then, but by its own clock it cannot tell.
            message = f"{key}: {parts}, said: {dict(took)}"
            self.assertGreaterEqual(parts[key], expected - parts["runnable_s"] - TOLERANCE * wall, message)
            self.assertLessEqual(parts[key], expected + TOLERANCE * wall, message)
        return stage

    def test_each_wait_alone(self):
        for wait in ("sleep", "lock", "cond", "pipe", "child", "server", "compute"):
            with self.subTest(wait=wait):
                self.check(WAITS, f"{wait}=600")

    def test_all_waits_mixed(self):
        self.check(WAITS, "sleep=300", "compute=400", "pipe=250", "lock=200", "child=300", "server=250", "cond=150", "compute=200",
                   "sleep=100")

    def test_many_short_waits(self):
        self.check(WAITS, *["sleep=7", "pipe=5", "lock=6"] * 25)

    def python(self, body):
        script = PYTHON + body + "\nfor part, ns in took.items(): print(part, ns)\n"
        return ["/usr/bin/python3", "-S", "-c", script]

    def test_python_waits(self):
        self.check(*self.python("timed('sleep', lambda: time.sleep(0.5)); timed('pipe', lambda: from_pipe(0.4));"
                                "timed('cond', lambda: from_thread(0.3)); timed('child', lambda: subprocess.run(['sleep', '0.6']))"))

    def test_python_computing(self):
        """Interpreter and C code apart: needs samples of the stack; without them both are native."""
        took, stage = self.run_it(*self.python("timed('sleep', lambda: time.sleep(0.3)); timed('python', lambda: compute(0.9))"))
        time = stage["time"]
        known = (time["python_s"] or 0) + (time["native_s"] or 0)
        self.assertAlmostEqual(known, took["python_s"], delta=TOLERANCE * time["wall_s"] + 0.03, msg=time)

    @thrice
    def test_a_wait_is_followed_into_the_process_waited_for(self):
        """Three processes: ours waits for a worker, which waits for a child of its own, which sleeps."""
        body = """
def worker():
    r, w = os.pipe()
    if not os.fork():
        start = time.thread_time()
        compute(0.3)
        time.sleep(0.5)
        os.write(w, b'x'); os._exit(0)
    os.read(r, 1)
timed('pipe', worker)
"""
        stage = self.check(*self.python(body))
        wait = next(row for row in stage["waits"] if row["wait"] == "Data wait")
        self.assertAlmostEqual(wait["sleep_s"], 0.5, delta=0.05)
        self.assertGreater(wait["compute_s"], 0.25)
        self.assertAlmostEqual(wait["sleep_s"] + wait["compute_s"], wait["total_s"], delta=0.03)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
