# SPDX-License-Identifier: MIT
"""Two writers past the page cache, to a device that takes 10 MB/s; the fixed ones write to memory. (The runner makes the group.)"""
import mmap
import os

import planted

PIECE, PIECES = 1 << 20, 20


def write(folder, name):
    buffer = mmap.mmap(-1, PIECE)
    path = os.path.join(folder, name)
    direct = os.O_DIRECT if folder == "." else 0
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | direct, 0o600)
    for _ in range(PIECES):
        os.write(fd, buffer)  # planted here
        planted.compute(0.001)
    os.fsync(fd)
    os.close(fd)
    os.unlink(path)


def run(folder):
    child = os.fork()
    write(folder, f"planted-{'main' if child else 'child'}")
    if not child:
        os._exit(0)
    os.waitpid(child, 0)


def in_memory():
    folder = f"/dev/shm/{os.path.basename(os.getcwd())}"
    os.makedirs(folder, exist_ok=True)
    run(folder)


planted.main(lambda: run("."), in_memory)
