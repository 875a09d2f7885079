#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A main thread that waits for its own threads and processes: while they work that is what it waits for, not a lock, nor a child.

The program says how long its main thread waited (what it queued for a CPU after that is runnable time), and what the kernel counted for those who worked: the time on a CPU and in its queue."""
import json
import sys
import unittest

from account_case import AccountCase, thrice

BEGIN = """
import hashlib, json, multiprocessing, os, queue, threading, time
def schedstat():
    on, queued, _ = open('/proc/thread-self/schedstat').read().split()
    return (int(on) + int(queued)) / 1e9
def queued():
    return int(open('/proc/thread-self/schedstat').read().split()[1]) / 1e9
def compute(seconds):
    before, end, block = schedstat(), time.thread_time() + seconds, bytes(1 << 20)
    while time.thread_time() < end: hashlib.sha256(block)
    return schedstat() - before
def waited(action):
    start = time.monotonic() - queued(); worked = action(); return time.monotonic() - queued() - start, worked
def pool(work):
    with multiprocessing.Pool(2) as pool: return sum(pool.map(work, [0.4] * 4, chunksize=1)) / 2
def threads(work):
    answers = queue.Queue()
    for _ in range(2): threading.Thread(target=lambda: answers.put(work(0.6))).start()
    return (answers.get() + answers.get()) / 2
def joined(work):
    took = []
    thread = threading.Thread(target=lambda: took.append(work(0.6))); thread.start(); thread.join()
    return took[0]
def child(work):
    # It does something itself, too: else it is but a launcher, and the account is its child's.
    process = multiprocessing.Process(target=work, args=(1.5,)); process.start(); compute(0.9)
    return waited(process.join)[0]
def sleep(seconds):
    time.sleep(seconds); return seconds
def lock(work):
    held = threading.Lock(); took = []
    def hold():
        for _ in range(20):
            with held: took.append(work(0.03))
    other = threading.Thread(target=hold); other.start()
    for _ in range(20):
        with held: work(0.03)
    other.join(); return sum(took)
"""


class Workers(AccountCase):
    def run_python(self, body):
        output, report, stage = self.run_traced("/usr/bin/python3", "-S", "-c", f"{BEGIN}print(json.dumps(waited(lambda: {body})))")
        return (*json.loads(output), report, stage["time"])

    @thrice
    def check_working(self, body, other):
        waited, worked, _, time = self.run_python(body)
        wall = time["wall_s"]
        self.assertGreater(time["workers_s"], 0.9 * min(waited, worked) - 0.02 * wall, f"{body}: {worked} of {waited}, {time}")
        self.assertLess(time["workers_s"], waited + 0.02 * wall, f"{body}: {worked} of {waited}, {time}")
        self.assertLess(time[other], waited - 0.8 * min(waited, worked) + 0.02 * wall, f"{body}: {worked} of {waited}, {time}")

    def test_a_pool_that_computes(self):
        self.check_working("pool(compute)", "lock_s")

    def test_threads_that_compute(self):
        self.check_working("threads(compute)", "lock_s")

    @thrice
    def test_a_thread_that_is_joined(self):
        """One thread, for which the main one only waits: what it does is the stage's time."""
        _, worked, _, time = self.run_python("joined(compute)")
        self.assert_within(time["computing_s"] + time["runnable_s"], worked, worked + 0.1, time["wall_s"], f"{worked} {time}")
        self.assertLess(time["workers_s"] + time["lock_s"], 0.02 * time["wall_s"], time)

    @thrice
    def test_a_child_that_computes(self):
        _, waited, _, time = self.run_python("child(compute)")
        self.assert_within(time["workers_s"], 0.9 * waited, waited, time["wall_s"], f"{waited} {time}")
        self.assertLess(time["child_wait_s"], 0.1 * waited + 0.02 * time["wall_s"], time)

    @thrice
    def test_a_child_that_sleeps(self):
        _, waited, _, time = self.run_python("child(sleep)")
        self.assert_within(time["child_wait_s"], 0.9 * waited, waited, time["wall_s"], f"{waited} {time}")

    @thrice
    def check_sleeping(self, body, part):
        """Of the sleep; a pool's start and end, which the wait holds too, are work, and on a slow machine more than a tenth of it."""
        waited, slept, _, time = self.run_python(body)
        self.assertLess(time["workers_s"], waited - 0.8 * slept, time)
        self.assertGreater(time[part], 0.8 * slept, time)

    def test_a_pool_that_sleeps_does_not_work(self):
        self.check_sleeping("pool(sleep)", "lock_s")

    def test_a_joined_thread_that_sleeps_does_not_work(self):
        self.check_sleeping("joined(sleep)", "sleep_s")

    @thrice
    def test_a_lock_that_another_thread_holds_is_a_lock(self):
        _, worked, _, time = self.run_python("lock(compute)")
        self.assertLess(time["workers_s"], 0.3 * time["lock_s"] + 0.02 * time["wall_s"], time)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
