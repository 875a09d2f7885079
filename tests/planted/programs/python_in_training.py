# SPDX-License-Identifier: MIT
"""A training whose samples are computed by a loop in Python, in the training process; the fixed one has them from NumPy."""
import loader
import numpy as np
import planted
import torch

TOKENS, BINS = 60_000, 64


class Counts(torch.utils.data.Dataset):
    def __init__(self, is_fixed):
        self.is_fixed = is_fixed

    def __len__(self):
        return 400

    def __getitem__(self, index):
        if self.is_fixed:
            counts = np.bincount((np.arange(TOKENS) * 7 + index) % BINS, minlength=BINS)
        else:
            counts = [0] * BINS
            for k in range(TOKENS):  # planted here
                counts[(k * 7 + index) % BINS] += 1  # planted here
        return torch.as_tensor(counts, dtype=torch.float32)


weights = torch.ones(140, 140)


def step(batch):
    for _ in range(2):
        weights.mm(weights).sum().item()
    return batch.sum().item()


planted.main(lambda: loader.train(Counts(False), 0, step), lambda: loader.train(Counts(True), 0, step))
