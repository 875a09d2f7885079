# SPDX-License-Identifier: MIT
"""Asks for each of many files whether it is there; the fixed one lists the directory."""
import os

import planted

NAMES = [f"data/{i}.jpg" for i in range(600_000)]


def bad():
    return sum(os.path.exists(name) for name in NAMES)  # planted here


def fixed():
    present = {"data/" + name for name in os.listdir("data")}
    return len(present.intersection(NAMES))


def prepare():
    os.makedirs("data", exist_ok=True)
    for i in range(0, 2000, 2):
        open(f"data/{i}.jpg", "w").close()


planted.main(bad, fixed, prepare)
