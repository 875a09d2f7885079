# SPDX-License-Identifier: MIT
"""Forks a helper for each of 100 tasks with 1 GiB in memory; the fixed one forks before it loads."""
import mmap
import os

import planted


def load():
    memory = mmap.mmap(-1, 1024 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, len(memory), 4096):
        memory[at] = 1
    return memory


def tasks():
    for _ in range(100):
        pid = os.fork()  # planted here
        if not pid:
            os._exit(0)
        os.waitpid(pid, 0)


def bad():
    memory = load()
    tasks()
    return memory


def fixed():
    tasks()
    return load()


planted.main(bad, fixed)
