# SPDX-License-Identifier: MIT
"""Sorts all that it remembers in each step to draw what matters most: no data is loaded, though the priorities are NumPy's; the fixed one
asks NumPy for the largest."""
import math
import random

import numpy
import planted
import torch

torch.set_num_threads(1)
REMEMBERED, BATCH = 30000, 64
FEWEST_STEPS, SORTS_S = 150, 3


def most_important(priorities, is_fixed):
    if is_fixed:
        return numpy.argpartition(-numpy.asarray(priorities), 4 * BATCH)[:4 * BATCH]
    return sorted(range(len(priorities)), key=lambda i: priorities[i], reverse=True)[:4 * BATCH]  # planted here


def train(is_fixed):
    priorities = numpy.random.rand(REMEMBERED).astype("float32")
    priorities = priorities if is_fixed else list(priorities)
    states = torch.randn(REMEMBERED, 64)
    model = torch.nn.Linear(64, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(planted.kept_amount()):
        drawn = [int(i) for i in random.choices(most_important(priorities, is_fixed), k=BATCH)]
        optimizer.zero_grad()
        errors = model(states[drawn]).squeeze(1).square()
        errors.mean().backward()
        optimizer.step()
        for i, error in zip(drawn, errors.detach().numpy()):
            priorities[i] = error


def prepare():
    """As many steps as make the sorting worth seconds, however fast the machine is."""
    sort_s = planted.seconds_of(most_important, list(numpy.random.rand(REMEMBERED).astype("float32")), False)
    planted.keep_amount(max(FEWEST_STEPS, math.ceil(SORTS_S / sort_s)))


planted.main(lambda: train(False), lambda: train(True), prepare)
