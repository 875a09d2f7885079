# SPDX-License-Identifier: MIT
"""Collects features by np.concatenate of all that came before and the next batch; the fixed one joins a list of them once."""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import numpy  # noqa: E402

ROUNDS, ROWS, WIDTH = 500, 64, 512
weights = numpy.ones((WIDTH, WIDTH), numpy.float32)


def encode(number):
    return numpy.full((ROWS, WIDTH), number % 7, numpy.float32) @ weights


def extract(is_fixed):
    features, parts = numpy.empty((0, WIDTH), numpy.float32), []
    for number in range(ROUNDS):
        batch = encode(number)
        if is_fixed:
            parts.append(batch)
        else:
            features = numpy.concatenate([features, batch])  # planted here
    return numpy.concatenate(parts) if is_fixed else features


planted.main(lambda: extract(False), lambda: extract(True))
