# SPDX-License-Identifier: MIT
"""What a generated program says of itself, by its own clocks: how long it took, its CPU time, and how long the threads that it waited
for one after another stood in a run queue. One line of JSON in the file that RANDOM_TRUTH names."""
import json
import os
import resource
import sys
import threading
import time

FILE = os.environ["RANDOM_TRUTH"]
FIXED = "--fixed" in sys.argv


def queued_s():
    with open("/proc/thread-self/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1]) / 1e9


def note(seconds):
    with open(FILE + ".queued", "a", encoding="ascii") as file:
        file.write(f"{seconds:.6f}\n")


def part(function):
    before = queued_s()
    function()
    note(queued_s() - before)


def in_main(function):
    function()


def in_thread(function):
    thread = threading.Thread(target=part, args=(function,))
    thread.start()
    thread.join()


def in_fork(function):
    pid = os.fork()
    if not pid:
        part(function)
        os._exit(0)
    os.waitpid(pid, 0)


def main(function):
    began, queued = time.monotonic(), queued_s()
    function()
    wall, queued = time.monotonic() - began, queued_s() - queued
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    with open(FILE, "w", encoding="ascii") as file:
        json.dump({"wall_s": wall, "queued_s": queued, "cpu_s": sum(u.ru_utime + u.ru_stime for u in used)}, file)


def compute(units):
    """About so many milliseconds on one CPU, without a system call."""
    total = 0
    for i in range(units * 45_000):
        total ^= i
    return total
