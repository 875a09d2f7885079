# SPDX-License-Identifier: MIT
"""Samples whose words are counted one by one in a tensor, in the training process; the fixed one counts them at once."""
import loader
import planted
import torch

WORDS, KINDS = 400, 5000


class Bags(torch.utils.data.Dataset):
    def __init__(self, is_fixed):
        self.is_fixed = is_fixed

    def __len__(self):
        return 400

    def __getitem__(self, index):
        words = [(word * 7 + index) % KINDS for word in range(WORDS)]
        if self.is_fixed:
            return torch.bincount(torch.tensor(words), minlength=KINDS).float()
        bag = torch.zeros(KINDS)
        for word in words:
            bag[word] += 1  # planted here
        return bag


weights = torch.ones(140, 140)


def step(batch):
    for _ in range(2):
        weights.mm(weights).sum().item()
    return batch.sum().item()


planted.main(lambda: loader.train(Bags(False), 0, step), lambda: loader.train(Bags(True), 0, step))
