# SPDX-License-Identifier: MIT
"""Writes records one by one without a buffer."""
import planted


def run(buffering):
    with open("out", "wb", buffering=buffering) as file:
        for _ in range(1_200_000):
            file.write(b"a record of 24 bytes ...")  # planted here


planted.main(lambda: run(0), lambda: run(1 << 20))
