# SPDX-License-Identifier: MIT
"""T11: CPython's handler writes to its wakeup pipe (a hook) on the least signal stack that it can bear, above a page of nothing."""
import ctypes
import mmap
import os
import signal
import sys

from libc import libc


class Stack(ctypes.Structure):
    _fields_ = [("ss_sp", ctypes.c_void_p), ("ss_flags", ctypes.c_int), ("ss_size", ctypes.c_size_t)]


libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
size = (os.sysconf("SC_MINSIGSTKSZ") + int(sys.argv[1])) & ~15
pages = (size + 4095) // 4096 + 1
memory = mmap.mmap(-1, pages * 4096)
bottom = ctypes.addressof(ctypes.c_char.from_buffer(memory))
assert libc.mprotect(bottom, 4096, 0) == 0
top = bottom + pages * 4096
stack = Stack(top - size, 0, size)
assert libc.sigaltstack(ctypes.byref(stack), None) == 0

heard = 0


def on_signal(*_):
    global heard
    heard += 1


ends = os.pipe2(os.O_NONBLOCK)
signal.set_wakeup_fd(ends[1], warn_on_full_buffer=False)
signal.signal(signal.SIGUSR1, on_signal)
for _ in range(3000):
    os.kill(os.getpid(), signal.SIGUSR1)
    assert os.read(ends[0], 100) == bytes([signal.SIGUSR1])
print("heard", heard)
