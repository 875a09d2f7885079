# SPDX-License-Identifier: MIT
"""24 workers are started for each of three short epochs; the fixed one has one, which stays."""
import loader
import planted
import torch


class Small(torch.utils.data.Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        return torch.zeros(1000)


def step(_):
    planted.compute(0.001)


planted.main(lambda: loader.train(Small(), 24, step, epochs=3),
             lambda: loader.train(Small(), 1, step, epochs=3, persistent_workers=True))
