# SPDX-License-Identifier: MIT
"""Keeps the outputs of all steps in one tensor, by torch.cat of it and the newest; the fixed one keeps a list."""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import torch  # noqa: E402

torch.set_num_threads(1)
STEPS, BATCH, WIDTH = 300, 64, 512


def train(is_fixed):
    model = torch.nn.Sequential(torch.nn.Linear(32, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    outputs, parts = torch.empty(0, WIDTH), []
    for _ in range(STEPS):
        output = model(torch.randn(BATCH, 32))
        optimizer.zero_grad()
        output.square().mean().backward()
        optimizer.step()
        if is_fixed:
            parts.append(output.detach())
        else:
            outputs = torch.cat([outputs, output.detach()])  # planted here
    return torch.cat(parts) if is_fixed else outputs


planted.main(lambda: train(False), lambda: train(True))
