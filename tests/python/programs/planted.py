# SPDX-License-Identifier: MIT
"""A training whose phases last as long as is planted: prints {phase: seconds}, measured by the program itself right around the calls."""
import json
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

torch.set_num_threads(1)
spent = {}


class Timed:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.begin = time.monotonic()

    def __exit__(self, *_):
        spent[self.name] = spent.get(self.name, 0) + time.monotonic() - self.begin


class Data:
    def __len__(self):
        return 40

    def __getitem__(self, i):
        time.sleep(0.005)
        return torch.zeros(4)


class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        time.sleep(0.02)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(0.03)
        return gradient * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = nn.Linear(4, 1)

    def forward(self, x):
        return Slow.apply(self.inside(x))


class Optimizer(torch.optim.SGD):
    def step(self, closure=None):
        time.sleep(0.01)
        return super().step(closure)


model = Model()
optimizer = Optimizer(model.parameters(), lr=0.1)
loader = DataLoader(Data(), batch_size=4)
for _ in range(2):
    iterator = iter(loader)
    while True:
        with Timed("data_wait"):
            x = next(iterator, None)
        if x is None:
            break
        with Timed("forward"):
            loss = model(x).sum()
        with Timed("backward"):
            loss.backward()
        with Timed("optimizer_step"):
            optimizer.step()
print(json.dumps(spent))
