#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Threads of Python that all compute: what the account calls GIL is what the kernel says they were off the CPU.

A thread that only computes leaves its CPU for two reasons: it waits for the GIL, or another program has the CPU. The time in
run queues (schedstat) is known, and what a hypervisor took; how much of it came after a wake-up, and so belongs to the wait, is not. Hence two bounds,
which are the same on a machine that has nothing else to do. A thread waits for the GIL before its first line, too: the lower
bound is of the part that computes, the upper one of all its life.
"""
import glob
import json
import os
import subprocess
import sys
import unittest

from account_case import AccountCase, machine, thrice

PROGRAM = """
import json, os, threading, time
def schedstat(tid):
    on, queued, _ = open(f'/proc/self/task/{tid}/schedstat').read().split()
    return int(on) / 1e9, int(queued) / 1e9
def stolen():
    return int(open('/proc/stat').readline().split()[8]) / os.sysconf('SC_CLK_TCK')
def burn(seconds, look, born):
    tid = threading.get_native_id() if hasattr(threading, 'get_native_id') else main
    start, (on, queued), taken = time.monotonic(), schedstat(tid), stolen()
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(i * i for i in range(1000))
    off = time.monotonic() - start - (schedstat(tid)[0] - on)
    queued = schedstat(tid)[1] - queued
    on = schedstat(tid)[0] - born[1]
    look.append([tid, off - queued - (stolen() - taken), time.monotonic() - born[0] - on])
main, look = os.getpid(), []
born, threads = (time.monotonic(), schedstat(main)[0]), []
for _ in range(THREADS - 1):
    threads.append(threading.Thread(target=burn, args=(SECONDS, [] if NO_TID else look, (time.monotonic(), 0))))
    threads[-1].start()
burn(SECONDS, look, born)
for thread in threads: thread.join()
print(json.dumps(look))
"""


def pythons():
    """The interpreter of the system and one of each other version that is here; 3.6 had no thread_time."""
    found = glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))
    return ["/usr/bin/python3", *sorted(p for p in found if "/3.6" not in p)]


class Gil(AccountCase):
    def run_threads(self, python, threads, seconds=0.6, **environment):
        has_tid = subprocess.run([python, "-c", "import threading; threading.get_native_id"], stderr=subprocess.DEVNULL).returncode == 0
        program = f"SECONDS, THREADS, NO_TID = {seconds}, {threads}, {not has_tid}" + PROGRAM
        output, report, stage = self.run_traced(python, "-S", "-c", program, **environment)
        return {tid: bounds for tid, *bounds in json.loads(output)}, report, stage

    @thrice
    def check(self, python, threads, **environment):
        look, report, stage = self.run_threads(python, threads, **environment)
        wall, waited = stage["time"]["wall_s"], {row["tid"]: row["total_s"] for row in stage["gil"]}
        for tid, (low, high) in look.items():
            self.assert_within(waited.get(tid), low, high, wall, f"{python}, thread {tid} of {list(look)}")
        main = stage["gil"][0]["pid"]
        self.assert_within(stage["time"]["gil_wait_s"], waited[main], waited[main], wall, "the main thread's")
        self.assertLess(stage["time"]["lock_s"], 0.7 * wall / threads + 0.1, "the last thread to end is joined")
        return report, stage

    def test_each_thread_of_the_system_python(self):
        for threads in (2, 4):
            with self.subTest(threads=threads):
                report, stage = self.check("/usr/bin/python3", threads)
                finding = next(finding for finding in report["findings"] if finding["rule"] == "gil_contention")
                self.assertEqual(finding["evidence"]["waiting_threads"], threads)
                self.assertLess(finding["gain_upper_s"], stage["time"]["wall_s"])

    def test_each_version(self):
        """With nothing else recorded, too: the library notes where the GIL lies."""
        for python in pythons()[1:]:
            with self.subTest(python=python):
                self.check(python, 2, PROFTRACE_HEAP="off", PROFTRACE_STACKS="0")

    def test_one_thread_waits_for_nobody(self):
        _, report, stage = self.run_threads("/usr/bin/python3", 1)
        self.assertEqual(stage["time"]["gil_wait_s"], 0)
        self.assertNotIn("gil_contention", {finding["rule"] for finding in report["findings"]})

    @thrice
    def test_who_waits_for_the_gil_does_not_compute(self):
        """Eight threads take turns, on CPUs that other programs want, too: that is not too many threads that compute."""
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * machine.cpus())]
        try:
            _, report, _ = self.run_threads("/usr/bin/python3", 8, 0.15)
        finally:
            for process in busy:
                process.kill()
                process.wait()
        found = self.found(report)
        self.assertIn("gil_contention", found)
        self.assertNotIn("oversubscribed_threads", found)

    def test_each_process_has_a_gil_of_its_own(self):
        """Three processes of two threads each: no six threads wait for one lock."""
        body = ("import os, threading, time\n"
                "def burn():\n  end = time.thread_time() + 0.4\n  while time.thread_time() < end: sum(i * i for i in range(1000))\n"
                "for _ in range(2):\n  if os.fork() == 0: break\n"
                "other = threading.Thread(target=burn); other.start(); burn(); other.join()\n")
        _, report, stage = self.run_traced("/usr/bin/python3", "-S", "-c", body)
        finding = next(finding for finding in report["findings"] if finding["rule"] == "gil_contention")
        self.assertEqual(finding["evidence"]["waiting_threads"], 2, stage["gil"])
        pids = [row["pid"] for row in stage["gil"]]
        self.assertEqual(sorted(pids, key=pids.index), pids, "the threads of a process stand together")
        worst = max(sum(row["total_s"] for row in stage["gil"] if row["pid"] == pid) for pid in set(pids))
        self.assertLess(finding["gain_upper_s"], 1.1 * worst + 0.01, stage["gil"])

    @thrice
    def test_a_lock_of_the_program_is_no_gil(self):
        body = ("import threading, time; lock = threading.Condition()\n"
                "def later():\n  time.sleep(0.5)\n  with lock: lock.notify()\n"
                "threading.Thread(target=later).start()\n"
                "with lock: lock.wait()")
        _, _, stage = self.run_traced("/usr/bin/python3", "-S", "-c", body)
        self.assertLess(stage["time"]["gil_wait_s"], 0.02)
        self.assertGreater(stage["time"]["sleep_s"], 0.45, "it waits for a thread of its own, which sleeps")
        self.assertGreater(next(row["lock_s"] for row in stage["threads"] if row["thread"] == "main"), 0.45)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
