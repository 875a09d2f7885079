# SPDX-License-Identifier: MIT
"""A training that keeps a running average of its many small layers by copies of the model; the fixed one changes it in place."""
import copy

import planted
import torch

torch.set_num_threads(1)
BATCH, STEPS, LAYERS, WIDTH, DECAY = 32, 1500, 8, 64, 0.99


def updated_average(average, model):
    fresh = copy.deepcopy(model)  # planted here
    for old, new in zip(average.parameters(), fresh.parameters()):
        new.data = DECAY * old.data + (1 - DECAY) * new.data
    return fresh


@torch.no_grad()
def updated_in_place(average, model):
    for old, new in zip(average.parameters(), model.parameters()):
        old.lerp_(new, 1 - DECAY)
    return average


def train(updated):
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[m for _ in range(LAYERS) for m in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU())])
    average = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    samples, truth = torch.randn(BATCH, WIDTH), torch.randint(WIDTH, (BATCH,))
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(samples), truth).backward()
        optimizer.step()
        average = updated(average, model)
    return average


planted.main(lambda: train(updated_average), lambda: train(updated_in_place))
