# SPDX-License-Identifier: MIT
"""A script that pauses after each of four requests; the fixed one does not. No command of it could run beside another."""
import subprocess

import planted


def run(pause_s):
    subprocess.run(["sh", "-c", f"for i in 1 2 3 4; do echo $i >> asked; sleep {pause_s}; done; cat asked"], check=True)


planted.main(lambda: run(0.6), lambda: run(0))
