# SPDX-License-Identifier: MIT
"""An index of vectors is copied and sorted as a whole for each batch: arrays of up to 31 MB come and go. Fixed: malloc keeps them."""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import numpy  # noqa: E402


def with_batch(index, batch):
    index = numpy.concatenate([index, batch])  # planted here
    return index[numpy.argsort(index[:, 0])]  # planted here


def build():
    index = numpy.empty((0, 32), numpy.float32)
    for number in range(120):
        index = with_batch(index, numpy.tile(numpy.arange(2000, dtype=numpy.float32)[:, None] * number % 977, (1, 32)))


planted.main(build, build)
