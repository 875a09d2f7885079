# SPDX-License-Identifier: MIT
"""Samples come from far away (20 ms each), and one worker fetches them one by one; the fixed one has eight."""
import time

import loader
import planted
import torch


class Far(torch.utils.data.Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        time.sleep(0.02)  # planted here
        return torch.zeros(1000)


def step(_):
    planted.compute(0.005)


planted.main(lambda: loader.train(Far(), 1, step), lambda: loader.train(Far(), 8, step))
