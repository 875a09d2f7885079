# SPDX-License-Identifier: MIT
"""Reads its shards, which were compressed at the level that takes longest, once each; the fixed one has them as they are."""
import gzip
import random

import planted

SHARDS, MEGABYTES = 24, 16


def prepare():
    words = [bytes(random.Random(i).choices(b"abcdefgh    ", k=8)) for i in range(1000)]
    text = b"".join(random.Random(1).choices(words, k=MEGABYTES << 17))
    packed = gzip.compress(text)
    for i in range(SHARDS):
        for name, content in ((f"{i}.txt", text), (f"{i}.txt.gz", packed)):
            with open(name, "wb") as file:
                file.write(content)


def shard(i, is_fixed):
    with open(f"{i}.txt", "rb") if is_fixed else gzip.open(f"{i}.txt.gz", "rb") as file:
        return file.read()[i]  # planted here


def run(is_fixed):
    for i in range(SHARDS):
        planted.compute(0.02)
        shard(i, is_fixed)


planted.main(lambda: run(False), lambda: run(True), prepare)
