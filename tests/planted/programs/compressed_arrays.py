# SPDX-License-Identifier: MIT
"""A training that keeps its weights in compressed archives; the fixed one does not compress them: they hardly get smaller."""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import numpy  # noqa: E402
import torch  # noqa: E402

torch.set_num_threads(1)
STEPS, EVERY = 400, 20


def keep(is_fixed, state):
    if is_fixed:
        numpy.savez("state.npz", **state)
    else:
        numpy.savez_compressed("state.npz", **state)  # planted here


def train(is_fixed):
    model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(STEPS):
        optimizer.zero_grad()
        model(torch.randn(4, 256)).square().mean().backward()
        optimizer.step()
        if step % EVERY == 0:
            keep(is_fixed, {name: value.numpy() for name, value in model.state_dict().items()})


planted.main(lambda: train(False), lambda: train(True))
