# SPDX-License-Identifier: MIT
"""Reads a file that is in memory and works on each part of it, in turn. The fixed one has the next part read by another thread meanwhile."""
import concurrent.futures
import hashlib
import os
import sys

import planted

BYTES, PART = 2 << 30, 1 << 22


def digest_of(part_before):
    digest = hashlib.sha256()
    with open("samples", "rb", buffering=0) as file:
        for part in part_before(file):
            digest.update(part)
    return digest.hexdigest()


def in_turn(file):
    part = bytearray(PART)
    while file.readinto(part):  # planted here
        yield part


def ahead(file):
    now, following = bytearray(PART), bytearray(PART)
    with concurrent.futures.ThreadPoolExecutor(1) as reader:
        is_read = reader.submit(file.readinto, now)
        while is_read.result():
            is_read = reader.submit(file.readinto, following)
            yield now
            now, following = following, now


if "--prepare" in sys.argv:
    with open("samples", "wb") as samples:
        os.truncate(samples.fileno(), BYTES)
    digest_of(in_turn)
else:
    planted.main(lambda: digest_of(in_turn), lambda: digest_of(ahead))
