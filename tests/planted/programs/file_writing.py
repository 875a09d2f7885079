# SPDX-License-Identifier: MIT
"""Writes large blocks, far more time than it computes: no small writes, no fsync. The fixed one keeps a digest."""
import hashlib
import os

import planted

BLOCK = os.urandom(1 << 22)


def run(writes):
    with open("samples", "wb") as file:
        for i in range(150):
            block = BLOCK[i:] + BLOCK[:i]
            if writes:
                file.seek(0 if i % 50 == 0 else file.tell())
                file.write(block)
            else:
                file.write(hashlib.blake2b(block[:1000]).digest())


planted.main(lambda: run(True), lambda: run(False))
