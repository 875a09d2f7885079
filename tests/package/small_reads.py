# SPDX-License-Identifier: MIT
"""A training with nothing but Python: it reads each sample once, in small pieces, which is what the report must say first."""
import os
import tempfile

WEIGHTS = 32


def samples_in(folder, count):
    for number in range(count):
        with open(os.path.join(folder, f"{number}.bin"), "wb") as file:
            file.write(os.urandom(40960))
    return [os.path.join(folder, f"{number}.bin") for number in range(count)]


def load(path):
    pieces = []
    with open(path, "rb", buffering=0) as file:
        while True:
            piece = file.read(16)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)


def step(weights, sample):
    for i in range(WEIGHTS):
        weights[i] += 0.01 * (sample[i] / 255 - weights[i])


with tempfile.TemporaryDirectory() as folder:
    paths, weights = samples_in(folder, 300), [0.0] * WEIGHTS
    for path in paths:
        step(weights, load(path))
print("trained")
