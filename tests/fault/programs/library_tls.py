# SPDX-License-Identifier: MIT
"""T9: a library that came late has thread-local storage; the first touch of it in each thread makes ld.so allocate."""
import ctypes

from libc import join, start

globals_of_thread = ctypes.cast(ctypes.CDLL("libstdc++.so.6").__cxa_get_globals, ctypes.c_void_p)
for _ in range(500):
    assert join(start(globals_of_thread, None))
print("touched")
