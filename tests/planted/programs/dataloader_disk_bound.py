# SPDX-License-Identifier: MIT
"""Two workers take samples from a device that gives 10 MB/s: the first half is read, the other one is in a mapping, where no call
asks for it. The fixed one has them in memory."""
import mmap
import os

import loader
import planted
import torch

COUNT, BYTES = 24, 1 << 20
FAST = f"/dev/shm/planted-{os.path.basename(os.getcwd())}"


class Shards(torch.utils.data.Dataset):
    def __init__(self, name):
        self.name = name

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        with open(self.name, "rb", buffering=0) as file:
            if index >= COUNT // 2:
                with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapping:
                    sample = mapping[index * BYTES:(index + 1) * BYTES]  # planted here
            else:
                file.seek(index * BYTES)
                sample = file.read(BYTES)  # planted here
            return torch.zeros(len(sample) // 1000)


def step(_):
    planted.compute(0.005)


def prepare():
    planted.write_file("data", COUNT)
    planted.write_file(FAST, COUNT)
    planted.forget("data")


planted.main(lambda: loader.train(Shards("data"), 2, step), lambda: loader.train(Shards(FAST), 2, step), prepare)
