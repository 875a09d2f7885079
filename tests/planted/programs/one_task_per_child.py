# SPDX-License-Identifier: MIT
"""A pool whose workers end after each piece of work, of which each begins with what the last ones had imported; the fixed one keeps them."""
import multiprocessing

import planted

PIECES = 160


def prepare_sample(index):
    planted.compute(0.012)
    return index


def work(most):
    with multiprocessing.Pool(2, maxtasksperchild=most) as pool:
        pool.map(prepare_sample, range(PIECES), chunksize=1)  # planted here


if __name__ == "__main__":
    planted.main(lambda: work(1), lambda: work(None))
