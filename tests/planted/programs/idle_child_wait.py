# SPDX-License-Identifier: MIT
"""Runs six converters one after another; the fixed one starts all of them."""
import subprocess

import planted

CONVERT = {"args": ["convert", "0.4"], "executable": "/bin/sleep"}  # which waits for something: to pause by sleep is another thing


def bad():
    for _ in range(3):
        subprocess.run(**CONVERT, check=True)  # planted here
        subprocess.run(**CONVERT, check=True, capture_output=True)  # planted here


def fixed():
    running = [subprocess.Popen(**CONVERT) for _ in range(6)]
    for one in running:
        one.wait()


planted.main(bad, fixed)
