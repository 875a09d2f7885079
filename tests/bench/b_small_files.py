#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""5,000 files of 0.5 to 8 KiB, each opened, read and closed.   usage: b_small_files.py DIR [FILES]"""
import os
import random
import sys

from result import Bench

folder, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5000
names = [f"{folder}/{i % 50:02d}/{i:05d}.bin" for i in range(count)]
if not os.path.exists(names[-1]):
    rng = random.Random(5)
    for i, name in enumerate(names):
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as f:
            f.write(os.urandom(rng.randrange(512, 8192)))
for name in names:  # into the page cache
    open(name, "rb").read()
bench, total = Bench(), 0
for name in names:
    with open(name, "rb") as f:
        total += len(f.read())
bench.print(count)
