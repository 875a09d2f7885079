# SPDX-License-Identifier: MIT
"""A pool that is handed one short text at a time; the fixed one hands over a thousand."""
import multiprocessing

import planted


def score(text):
    return sum(map(ord, text)) % 97


def run(chunk_size):
    texts = [f"a short text, number {i}" for i in range(60_000)]
    with multiprocessing.Pool(2) as pool:
        return sum(pool.imap_unordered(score, texts, chunksize=chunk_size))


planted.main(lambda: run(1), lambda: run(1000))
