# SPDX-License-Identifier: MIT
"""Runs six converters one after another; the fixed one starts all of them."""
import subprocess

import planted

COMMAND = ["sleep", "0.4"]


def bad():
    for _ in range(3):
        subprocess.run(COMMAND, check=True)  # planted here
        subprocess.run(COMMAND, check=True, capture_output=True)  # planted here


def fixed():
    running = [subprocess.Popen(COMMAND) for _ in range(6)]
    for one in running:
        one.wait()


planted.main(bad, fixed)
