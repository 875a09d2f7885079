# SPDX-License-Identifier: MIT
"""Adds up a checksum of each of many small records by a function in C, one call for each; the fixed program hands all of them over at once. Both
then compute."""
import ctypes

import planted

LIBRARY = ctypes.CDLL("libz.so.1")
LIBRARY.adler32.argtypes = [ctypes.c_ulong, ctypes.c_char_p, ctypes.c_uint]
LIBRARY.adler32.restype = ctypes.c_ulong
RECORD = b"a record of a log"


def one_by_one():
    total = 1
    for _ in range(2_000_000):
        total = LIBRARY.adler32(total, RECORD, len(RECORD))  # planted here
    return total


def at_once():
    return LIBRARY.adler32(1, RECORD * 2_000_000, 2_000_000 * len(RECORD))


def run(checksum):
    print(checksum())
    planted.compute(1)


planted.main(lambda: run(one_by_one), lambda: run(at_once))
