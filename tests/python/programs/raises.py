# SPDX-License-Identifier: MIT
"""An exception in each phase, then one step as it should be. `uncaught`: one that ends the program."""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader

torch.set_num_threads(1)


class Raises(nn.Module):
    def forward(self, x):
        raise ValueError("in forward")


class Later(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        raise KeyError("in backward")


class Stubborn(torch.optim.SGD):
    def step(self, closure=None):
        raise RuntimeError("in step")


class Unready:
    def __iter__(self):
        raise OSError("no sampler")


def interrupts(frame, event, argument):
    """As an alarm's handler may, while the library looks at a model whose phase has not begun yet."""
    if frame.f_code.co_name == "mode_of":
        raise TimeoutError


def interrupted():
    sys.setprofile(interrupts)
    try:
        model(torch.randn(2, 4))
    finally:
        sys.setprofile(None)


model = nn.Linear(4, 1)
if "uncaught" in sys.argv:
    nn.Sequential(model, Raises())(torch.randn(2, 4))
for wrong in (lambda: nn.Sequential(Raises())(torch.randn(2, 4)), lambda: Later.apply(model(torch.randn(2, 4))).sum().backward(),
              lambda: Stubborn(model.parameters(), lr=0.1).step(), lambda: next(iter(DataLoader([1, 2], collate_fn=lambda b: 1 / 0))),
              lambda: iter(DataLoader([1], sampler=Unready(), batch_size=None)), lambda: torch.load("/no/such/file"), interrupted):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__)
model(torch.randn(2, 4))
