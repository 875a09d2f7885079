# SPDX-License-Identifier: MIT
"""What the programs share: `PROGRAM` is the bad variant, `PROGRAM --fixed` the good one, `PROGRAM --prepare` makes the files of both.

All work in the current directory."""
import functools
import os
import sys
import time

AMOUNT = "amount"  # the file in which --prepare leaves how much this machine does


def seconds_of(work, *arguments):
    """Of this thread's CPU, when nothing disturbs it: the best of five."""
    def once():
        begin = time.thread_time()
        work(*arguments)
        return time.thread_time() - begin
    return min(once() for _ in range(5))


def keep_amount(amount):
    """Both variants take the same, so that they do the same work."""
    with open(AMOUNT, "w", encoding="ascii") as file:
        file.write(str(amount))


@functools.lru_cache
def kept_amount():
    with open(AMOUNT, encoding="ascii") as file:
        return int(file.read())


def main(bad, fixed, prepare=None):
    if "--prepare" in sys.argv:
        if prepare:
            prepare()
    elif "--fixed" in sys.argv:
        fixed()
    else:
        bad()


def write_file(name, megabytes):
    block = os.urandom(1 << 20)
    with open(name, "wb") as file:
        for _ in range(megabytes):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())


def forget(name):
    """The next reader has to ask the device."""
    fd = os.open(name, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def compute(seconds_of_work, rounds_per_s=25_000_000):
    """So many seconds on one CPU of a slow machine, without a system call; a third of them on a quick one."""
    total = 0
    for i in range(int(seconds_of_work * rounds_per_s)):
        total ^= i
    return total


def measure():
    """What --prepare of a program with compute_for does: rounds a second."""
    some_s = 0.04
    keep_amount(int(some_s * 25_000_000 / seconds_of(compute, some_s)))


def compute_for(seconds):
    """So many seconds on one CPU of this machine, where a run has to last: to be sampled some times, or beside what takes as long anywhere."""
    return compute(seconds, kept_amount())
