# SPDX-License-Identifier: MIT
"""Loads a batch that torch.save has written in each step, without a loader; the fixed one keeps what it has loaded."""
import os

import planted
import torch

torch.set_num_threads(1)
BATCHES, STEPS = 16, 1200


def prepare():
    for n in range(BATCHES):
        torch.save({"x": torch.randn(32, 64), "y": torch.randint(10, (32,)), "names": [f"sample {n}.{i}" for i in range(2000)]},
                   f"batch-{n}.pt")


def train(is_fixed):
    model = torch.nn.Linear(64, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    kept = {}
    for step in range(STEPS):
        name = f"batch-{step % BATCHES}.pt"
        batch = kept.get(name) or torch.load(name)  # planted here
        if is_fixed:
            kept[name] = batch
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch["x"]), batch["y"]).backward()
        optimizer.step()


if not os.path.exists("batch-0.pt"):
    prepare()
planted.main(lambda: train(False), lambda: train(True))
