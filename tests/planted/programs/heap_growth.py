# SPDX-License-Identifier: MIT
"""Keeps the result of each step, which nobody looks at again; the fixed one keeps a sum."""
import planted


def run(keeps):
    kept = []
    for _ in range(120):
        result = bytes(1 << 20)  # planted here
        kept = kept + [result] if keeps else [result]
        planted.compute_for(0.02)


planted.main(lambda: run(True), lambda: run(False), planted.measure)
