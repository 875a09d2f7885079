# SPDX-License-Identifier: MIT
"""Writes what it has computed through gzip, at the level that is slowest; the fixed one writes it as it is."""
import gzip
import random

import planted

ROUNDS, MEGABYTES = 6, 4
state = random.Random(0).randbytes(MEGABYTES << 20)


def save(is_fixed):
    with open("state", "wb") if is_fixed else gzip.open("state.gz", "wb") as file:
        file.write(state)  # planted here


def run(is_fixed):
    for _ in range(ROUNDS):
        planted.compute(0.15)
        save(is_fixed)


planted.main(lambda: run(False), lambda: run(True))
