# SPDX-License-Identifier: MIT
"""One of two workers takes 50 ms for a sample, the other one next to nothing; the fixed ones are equally fast."""
import time

import loader
import planted
import torch


class Uneven(torch.utils.data.Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 120

    def __getitem__(self, index):
        if torch.utils.data.get_worker_info().id == 1:
            time.sleep(self.seconds)  # planted here
        return torch.zeros(1000)


def step(_):
    planted.compute(0.01)


planted.main(lambda: loader.train(Uneven(0.05), 2, step), lambda: loader.train(Uneven(0), 2, step))
