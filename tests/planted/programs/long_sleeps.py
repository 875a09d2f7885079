# SPDX-License-Identifier: MIT
"""Waits a second after each of three steps, to be sure."""
import time

import planted


def run(pause_s):
    for _ in range(3):
        planted.compute(0.02)
        time.sleep(pause_s)  # planted here


planted.main(lambda: run(0.7), lambda: run(0))
