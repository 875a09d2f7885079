# SPDX-License-Identifier: MIT
"""Keeps the result of each step, which nobody looks at again; the fixed one keeps a sum."""
import planted


def run(keeps):
    kept = []
    for _ in range(120):
        result = bytes(1 << 20)
        kept = kept + [result] if keeps else [result]
        planted.compute(0.05)  # in all well above the second below which no growth is judged, on a fast machine too


planted.main(lambda: run(True), lambda: run(False))
