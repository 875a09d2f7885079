# SPDX-License-Identifier: MIT
"""Keeps many small objects, and the collector looks at them again and again. Fixed: it is off while they are made."""
import gc

import planted


def fill(n):
    return [(i, [i]) for i in range(n)]


def bad():
    gc.set_threshold(700, 10, 10)
    kept = [fill(100_000) for _ in range(15)]
    planted.compute(0.5)
    return kept


def fixed():
    gc.disable()
    kept = [fill(100_000) for _ in range(15)]
    planted.compute(0.5)
    return kept


planted.main(bad, fixed)
