# SPDX-License-Identifier: MIT
"""Holds 185 of the 200 MiB that its control group may use; the fixed one 20. (The runner makes the group.)"""
import planted


def run(mebibytes):
    held = [b"x" * (1 << 20) for _ in range(mebibytes)]  # planted here
    planted.compute_for(1.3)
    return held


planted.main(lambda: run(175), lambda: run(20), planted.measure)
