# SPDX-License-Identifier: MIT
"""One worker takes longer for a batch than the 5 s after which the loader asks its queue again; the fixed one has its samples at hand."""
import time

import loader
import planted
import torch


class Slow(torch.utils.data.Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 12

    def __getitem__(self, index):
        time.sleep(self.seconds)  # planted here
        return torch.zeros(1000)


def step(_):
    planted.compute(0.01)


planted.main(lambda: loader.train(Slow(1.4), 1, step), lambda: loader.train(Slow(0), 1, step))
