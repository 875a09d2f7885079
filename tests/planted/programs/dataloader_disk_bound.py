# SPDX-License-Identifier: MIT
"""Two workers read samples from a device that gives 10 MB/s; the fixed one has them in memory."""
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
            file.seek(index * BYTES)
            return torch.zeros(len(file.read(BYTES)) // 1000)


def step(_):
    planted.compute(0.005)


def prepare():
    planted.write_file("data", COUNT)
    planted.write_file(FAST, COUNT)
    planted.forget("data")


planted.main(lambda: loader.train(Shards("data"), 2, step), lambda: loader.train(Shards(FAST), 2, step), prepare)
