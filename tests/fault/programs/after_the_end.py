# SPDX-License-Identifier: MIT
"""T8: what is released when the interpreter is gone (exit handlers of the C library) or its thread is (key destructors)."""
import ctypes
import threading

from libc import address_of, libc

key = ctypes.c_uint()
assert libc.pthread_key_create(ctypes.byref(key), address_of("free")) == 0


def leave_a_block():
    libc.pthread_setspecific(key.value, libc.malloc(4243))


for _ in range(200):
    thread = threading.Thread(target=leave_a_block)
    thread.start()
    thread.join()
for _ in range(1000):
    libc.__cxa_atexit(address_of("free"), libc.malloc(4242), None)
print("the end")
