# SPDX-License-Identifier: MIT
"""Replaces a small file after each of many steps: few calls a second, but they are what takes the time. The fixed one writes as much,
to a file that stays open."""
import os

import planted

N_STEPS = 8000


def state(step):
    return f"{step} " * 400


def bad():
    for step in range(N_STEPS):
        with open("state.tmp", "w") as file:  # planted here
            file.write(state(step))  # planted here
        os.rename("state.tmp", "state.json")  # planted here


def fixed():
    with open("state.log", "w") as file:
        for step in range(N_STEPS):
            file.write(state(step))
            file.flush()


planted.main(bad, fixed)
