# SPDX-License-Identifier: MIT
"""A multiprocessing.Pool for each epoch, whose processes are spawned and import all that the program does; the fixed one keeps its pool."""
import asyncio  # noqa: F401
import email.mime.multipart  # noqa: F401
import multiprocessing
import unittest.mock  # noqa: F401
import xmlrpc.client  # noqa: F401

import planted

EPOCHS = 8


def prepare_sample(index):
    planted.compute(0.002)
    return index


def epoch_of(pool, epoch):
    return pool.map(prepare_sample, range(epoch * 8, epoch * 8 + 8))  # planted here


def bad():
    for epoch in range(EPOCHS):
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            epoch_of(pool, epoch)
        planted.compute(0.02)


def fixed():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for epoch in range(EPOCHS):
            epoch_of(pool, epoch)
            planted.compute(0.02)


if __name__ == "__main__":
    planted.main(bad, fixed)
