# SPDX-License-Identifier: MIT
"""Writes large blocks, far more time than it computes: no small writes, no fsync. The fixed one writes a digest of each."""
import hashlib
import os

import planted

BLOCK = os.urandom(1 << 22)


def run(writes):
    with open("samples", "wb") as file:
        for i in range(500):
            digest = hashlib.blake2b(BLOCK[i:i + 100_000]).digest()
            if i % 50 == 0:
                file.seek(0)
            file.write(BLOCK if writes else digest)  # planted here


planted.main(lambda: run(True), lambda: run(False))
