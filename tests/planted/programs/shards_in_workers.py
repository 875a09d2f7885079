# SPDX-License-Identifier: MIT
"""The samples of a data set lie in twelve compressed shards, and its workers unpack a whole shard for each of them; the fixed ones keep them."""
import pickle
import zlib

import loader
import planted
import torch

SHARDS, IN_SHARD = 12, 40


class Shards(torch.utils.data.Dataset):
    def __init__(self, is_fixed):
        self.kept = [self.unpack(number) for number in range(SHARDS)] if is_fixed else None

    @staticmethod
    def unpack(number):
        with open(f"shard{number}", "rb") as file:
            return pickle.loads(zlib.decompress(file.read()))  # planted here

    def __len__(self):
        return SHARDS * IN_SHARD

    def __getitem__(self, index):
        shard = self.kept[index % SHARDS] if self.kept else self.unpack(index % SHARDS)
        return torch.tensor(shard[index // SHARDS])


def prepare():
    for number in range(SHARDS):
        shard = [[float((number + i * k) % 97) for k in range(4000)] for i in range(IN_SHARD)]
        with open(f"shard{number}", "wb") as file:
            file.write(zlib.compress(pickle.dumps(shard)))


weights = torch.ones(140, 140)


def step(batch):
    weights.mm(weights).sum().item()
    return batch.sum().item()


planted.main(lambda: loader.train(Shards(False), 1, step), lambda: loader.train(Shards(True), 1, step), prepare)
