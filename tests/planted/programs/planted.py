# SPDX-License-Identifier: MIT
"""What the programs share: `PROGRAM` is the bad variant, `PROGRAM --fixed` the good one, `PROGRAM --prepare` makes the files of both.

All work in the current directory."""
import os
import sys


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


def compute(seconds_of_work):
    """About so many seconds on one CPU, without a system call."""
    total = 0
    for i in range(int(seconds_of_work * 25_000_000)):
        total ^= i
    return total
