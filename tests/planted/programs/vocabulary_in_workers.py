# SPDX-License-Identifier: MIT
"""A pool encodes texts; each worker parses the vocabulary anew for each text. The fixed program parses it once in each."""
import functools
import json
import multiprocessing

import planted

TEXTS = [f"word{i} word{i + 1} word{7 * i}" for i in range(240)]


def load_vocabulary():
    with open("vocabulary.json", encoding="ascii") as file:
        return json.load(file)  # planted here


@functools.lru_cache(maxsize=None)
def kept():
    return load_vocabulary()


def encode(text):
    vocabulary = load_vocabulary()
    return [vocabulary.get(word, 0) for word in text.split()]


def encode_with_kept(text):
    return [kept().get(word, 0) for word in text.split()]


def run(encoder):
    with multiprocessing.Pool(2) as pool:
        print(sum(map(len, pool.map(encoder, TEXTS, chunksize=8))))


def prepare():
    with open("vocabulary.json", "w", encoding="ascii") as file:
        json.dump({f"word{i}": i for i in range(40_000)}, file)


planted.main(lambda: run(encode), lambda: run(encode_with_kept), prepare)
