# SPDX-License-Identifier: MIT
"""Replaces a small file after each of few, long steps' worth of work: hardly any calls, but they are what takes the time. The fixed one
writes it once."""
import os

import planted

N_FILES = 2000


def replace(text):
    with open("state.tmp", "w") as file:
        file.write(text * 4000)
    os.rename("state.tmp", "state.json")


def bad():
    for i in range(N_FILES):
        replace(f"{i} ")


def fixed():
    replace(f"{N_FILES} ")


planted.main(bad, fixed)
