# SPDX-License-Identifier: MIT
"""Samples out of a ZIP archive, which is opened for each of them; the fixed one opens it once."""
import zipfile

import planted

SAMPLES = 900


class Samples:
    def __init__(self, stays_open):
        self.archive = zipfile.ZipFile("samples.zip") if stays_open else None

    def __getitem__(self, index):
        if self.archive:
            return self.archive.read(f"samples/{index:06}.bin")
        with zipfile.ZipFile("samples.zip") as archive:  # planted here
            return archive.read(f"samples/{index:06}.bin")


def run(stays_open):
    samples = Samples(stays_open)
    return sum(len(samples[index]) for index in range(SAMPLES))


def prepare():
    with zipfile.ZipFile("samples.zip", "w") as archive:
        for index in range(SAMPLES):
            archive.writestr(f"samples/{index:06}.bin", bytes(2048))


planted.main(lambda: run(False), lambda: run(True), prepare)
