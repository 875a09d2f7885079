# SPDX-License-Identifier: MIT
"""T13: threads are cancelled in calls that never return: CPython's own in a read, and C ones in the opening of a FIFO."""
import _thread
import ctypes
import os
import time

from libc import PTHREAD_CANCELED, address_of, join, libc, start

os.mkfifo("fifo")
for _ in range(30):
    thread = start(address_of("creat"), ctypes.cast(ctypes.c_char_p(b"fifo"), ctypes.c_void_p))  # no one will ever read
    time.sleep(.002)
    assert libc.pthread_cancel(thread) == 0
    assert join(thread) == PTHREAD_CANCELED

ends = os.pipe()
waiting = []


def wait_for_ever():
    waiting.append(libc.pthread_self())
    os.read(ends[0], 1)


for _ in range(30):
    _thread.start_new_thread(wait_for_ever, ())
    while not waiting:
        time.sleep(.0005)
    time.sleep(.002)
    assert libc.pthread_cancel(waiting.pop()) == 0

for _ in range(1000):
    libc.free(libc.malloc(4242))
os.write(ends[1], b"for no one")
assert os.read(ends[0], 100) == b"for no one"
print("cancelled 60")
