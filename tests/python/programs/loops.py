# SPDX-License-Identifier: MIT
"""Ten shapes of a training loop, each with known numbers of phases. Prints `name {phase: count}` for each, as the loop itself says."""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
net, other = nn.Linear(4, 1), nn.Linear(4, 1)
train = DataLoader(TensorDataset(torch.randn(32, 4)), batch_size=4)
valid = DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4)
optimizer, second = (torch.optim.SGD(module.parameters(), lr=0.1) for module in (net, other))


def normal():
    for _ in range(2):
        for (x,) in train:
            optimizer.zero_grad()
            net(x).sum().backward()
            optimizer.step()
        with torch.no_grad():
            for (x,) in valid:
                net(x)


def accumulation():
    for i, (x,) in enumerate(train):
        net(x).sum().backward()
        if i % 4 == 3:
            optimizer.step()


def two_optimizers():
    for (x,) in train:
        net(x).sum().backward()
        optimizer.step()
        other(x).sum().backward()
        second.step()


def no_loader():
    for _ in range(5):
        net(torch.randn(2, 4)).sum().backward()
        optimizer.step()


def infinite():
    iterator = iter(train)
    for _ in range(20):
        try:
            (x,) = next(iterator)
        except StopIteration:
            iterator = iter(train)
            (x,) = next(iterator)
        net(x).sum().backward()
        optimizer.step()


def closure():
    for (x,) in train:
        def again(x=x):
            optimizer.zero_grad()
            loss = net(x).sum()
            loss.backward()
            return loss
        optimizer.step(again)


def lookahead():
    iterator = iter(train)
    (current,) = next(iterator)
    while current is not None:
        following = next(iterator, (None,))[0]
        net(current).sum().backward()
        optimizer.step()
        current = following


def early_end():
    for i, (x,) in enumerate(train):
        net(x).sum().backward()
        optimizer.step()
        if i == 3:
            break


def validation_within():
    for i, (x,) in enumerate(train):
        net(x).sum().backward()
        optimizer.step()
        if i == 3:
            for (y,) in valid:
                net(y)


def evaluation():
    for x in range(3):
        net.train()
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        net.eval()
        for _ in range(10):
            torch.nn.MSELoss()(net(torch.ones(2, 4)), torch.ones(2, 1))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
