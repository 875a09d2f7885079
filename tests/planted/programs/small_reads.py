# SPDX-License-Identifier: MIT
"""Reads a file of records of 32 bytes, record by record, without a buffer."""
import os

import planted


def bad():
    fd = os.open("records", os.O_RDONLY)
    total = 0
    while record := os.read(fd, 32):  # planted here
        total += len(record)


def fixed():
    with open("records", "rb", buffering=1 << 20) as file:
        while file.read(1 << 20):
            pass


planted.main(bad, fixed, lambda: planted.write_file("records", 40))
