# SPDX-License-Identifier: MIT
"""A pool that is given recordings of 8 MB and gives them back with their sums; the fixed one is told which, and gives back the sums."""
import multiprocessing

import planted

SIZE = 8 << 20


def load(number):
    return bytes([number]) * SIZE


def with_sum(recording):
    return {"recording": recording, "sum": sum(recording[::4096])}


def only_sum(number):
    return {"sum": sum(load(number)[::4096])}


def bad():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for first in range(0, 96, 8):
            pool.map(with_sum, [load(number) for number in range(first, first + 8)])  # planted here


def fixed():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for first in range(0, 96, 8):
            pool.map(only_sum, range(first, first + 8))


planted.main(bad, fixed)
