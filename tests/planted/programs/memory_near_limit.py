# SPDX-License-Identifier: MIT
"""Holds 185 of the 200 MiB that its control group may use; the fixed one 20. (The runner makes the group.)"""
import time

import planted


def run(mebibytes):
    held = [b"x" * (1 << 20) for _ in range(mebibytes)]
    for _ in range(10):
        planted.compute(0.05)
        time.sleep(0.08)
    return held


planted.main(lambda: run(175), lambda: run(20))
