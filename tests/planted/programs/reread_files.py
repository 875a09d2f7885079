# SPDX-License-Identifier: MIT
"""Each epoch reads the same files again; the fixed one keeps what it read."""
import planted

FILES, EPOCHS = [f"shard-{i}" for i in range(4)], 120


def load(name, buffer):
    with open(name, "rb", buffering=0) as file:
        file.readinto(buffer)  # planted here


def run(epochs):
    buffers = [bytearray(16 << 20) for _ in FILES]
    for _ in range(epochs):
        for name, buffer in zip(FILES, buffers):
            load(name, buffer)


planted.main(lambda: run(EPOCHS), lambda: run(1), lambda: [planted.write_file(name, 16) for name in FILES])
