# SPDX-License-Identifier: MIT
"""Reads a data set from a device that gives 10 MB/s; the fixed one has copied it to memory before."""
import os

import planted


def run(name):
    buffer = bytearray(1 << 20)
    with open(name, "rb", buffering=0) as file:
        while file.readinto(buffer):  # planted here
            planted.compute(0.001)


def prepare():
    planted.write_file("data", 24)
    planted.write_file(f"/dev/shm/planted-{os.path.basename(os.getcwd())}", 24)
    planted.forget("data")


planted.main(lambda: run("data"), lambda: run(f"/dev/shm/planted-{os.path.basename(os.getcwd())}"), prepare)
