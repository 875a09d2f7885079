# SPDX-License-Identifier: MIT
"""A pool of processes for each batch, which come from a forkserver and import all that the program does; the fixed one keeps its pool."""
import asyncio  # noqa: F401
import email.mime.multipart  # noqa: F401
import multiprocessing
import unittest.mock  # noqa: F401
import xmlrpc.client  # noqa: F401
from concurrent.futures import ProcessPoolExecutor

import planted

BATCHES = 10


def prepare_sample(index):
    planted.compute(0.002)
    return index


def new_pool():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver"))


def batch_of(pool, batch):
    return sum(pool.map(prepare_sample, range(batch * 8, batch * 8 + 8)))  # planted here


def bad():
    for batch in range(BATCHES):
        with new_pool() as pool:
            batch_of(pool, batch)
        planted.compute(0.02)


def fixed():
    with new_pool() as pool:
        for batch in range(BATCHES):
            batch_of(pool, batch)
            planted.compute(0.02)


if __name__ == "__main__":
    planted.main(bad, fixed)
