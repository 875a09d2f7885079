# SPDX-License-Identifier: MIT
"""Multiplies matrices. (The runner puts the reference BLAS before it, and OpenBLAS before the fixed one.)"""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy  # noqa: E402

ROUNDS, SIZE = 6, 700


def run():
    a = numpy.random.default_rng(0).random((SIZE, SIZE), numpy.float32)
    for _ in range(ROUNDS):
        a = a @ a / SIZE  # planted here


planted.main(run, run)
