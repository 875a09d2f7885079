#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The time account of a stage against waits of known length: each part within 2 % of the wall time, all parts 100 % of it.

The programs say by their own clocks how long each wait took; the machine may be busy, so what they asked for is no witness. Who was
preempted within a call was not waiting then, but by its own clock it cannot tell: it says how long it queued during that wait, and
that much the part may be shorter.
"""
import os
import sys
import unittest

from account_case import BUILD, AccountCase, Took, take, thrice

WAITS = os.environ.get("ACCOUNT_WAITS", os.path.join(BUILD, "tests", "account", "account_waits"))

PYTHON = """
import os, queue, subprocess, sys, threading, time
def queued():
    with open('/proc/thread-self/schedstat') as file: return int(file.read().split()[1])
def timed(part, action):
    clock = time.thread_time_ns if part == 'python' else time.monotonic_ns
    before, start = queued(), clock(); action(); ns = clock() - start
    print(threading.get_native_id(), part, ns, queued() - before, flush=True)
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


class Account(AccountCase):
    def with_workers(self, account):
        """Who waits for a thread of its own says nothing of whether that one works."""
        return {**account, "lock_s": account["lock_s"] + (account["workers_s"] or 0)}

    def check_stage(self, account, told):
        """Who waits for a thread that sleeps sleeps, as far as the stage is concerned: the two are one here."""
        account, both = self.with_workers(account), Took()
        account["lock_s"] += account["sleep_s"]
        for part in ("lock_s", "sleep_s"):
            both.seconds += told[part].seconds
            both.queued += told[part].queued
        rest = {part: took for part, took in told.items() if part not in ("lock_s", "sleep_s")}
        self.check_parts(account, {**rest, "lock_s": both}, account["wall_s"], "the stage")

    @thrice
    def check(self, *command):
        """What the first thread says that did anything but join another one is what the stage's account shows."""
        output, _, stage = self.run_traced(*command)
        told = take(output)
        main = next(tid for tid in told if any(row["tid"] == tid and row["thread"] == "main" for row in stage["threads"]))
        works = next((tid for tid in told if len(told[tid]) > len(told[main])), main)
        self.check_stage(stage["time"], told[works])
        for row in stage["threads"]:
            self.check_parts(self.with_workers(row), told[row["tid"]], stage["time"]["wall_s"], f"thread {row['tid']}")
        return stage

    def test_each_wait_alone(self):
        """Not for a child: who does nothing else is a launcher, see test_launchers.py."""
        for wait in ("sleep", "lock", "cond", "pipe", "reader", "server", "file", "compute"):
            with self.subTest(wait=wait):
                self.check(WAITS, f"{wait}=500")

    def test_all_waits_mixed(self):
        self.check(WAITS, "sleep=300", "compute=400", "pipe=250", "lock=200", "child=300", "server=250", "cond=150", "compute=200",
                   "sleep=100")

    def test_all_waits_mixed_in_another_thread(self):
        """The main thread joins it: what it does is the stage's time."""
        stage = self.check(WAITS, "thread", "sleep=300", "compute=300", "pipe=250", "lock=200", "reader=200", "server=250", "file=150",
                           "cond=150", "compute=100")
        time = stage["time"]
        main, works = (next(row for row in stage["threads"] if (row["thread"] == "main") == is_main and row["lived_s"] > 0.8 * time["wall_s"])
                       for is_main in (True, False))
        took = works["computing_s"] + works["file_read_s"] + works["runnable_s"]
        self.assertAlmostEqual(time["computing_s"] + time["file_read_s"] + time["runnable_s"], took, delta=0.04 * time["wall_s"], msg=f"{time} {works}")
        self.assertAlmostEqual(main["workers_s"], took, delta=0.04 * time["wall_s"], msg=f"{main} {works}")

    def test_many_short_waits(self):
        self.check(WAITS, *["sleep=7", "pipe=5", "lock=6"] * 25)

    def python(self, body):
        return ["/usr/bin/python3", "-S", "-c", PYTHON + body]

    def test_python_waits(self):
        self.check(*self.python("timed('sleep', lambda: time.sleep(0.5)); timed('pipe', lambda: from_pipe(0.4));"
                                "timed('cond', lambda: from_thread(0.3)); timed('child', lambda: subprocess.run(['sleep', '0.6']))"))

    @thrice
    def test_python_computing(self):
        """In the interpreter alone; C code that it calls is test_computing's. Without samples of the stack both are native."""
        output, _, stage = self.run_traced(*self.python("timed('sleep', lambda: time.sleep(0.3)); timed('python', lambda: compute(1.2))"))
        if stage["time"]["python_s"] is None:
            self.skipTest(stage["time"]["python_s_reason"])
        told = take(output)
        parts = next(iter(told.values()))
        # Starting the interpreter is 10 ms of either kind, a sample stands for 10.
        self.check_parts(stage["time"], parts, stage["time"]["wall_s"], "the main thread", more={"python_s": 0.02})


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
