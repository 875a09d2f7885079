# SPDX-License-Identifier: MIT
"""A training that asks for the largest singular value of each layer in each step. Whether it needs them, nobody else knows: that they take
most of its time is said, and where."""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import torch  # noqa: E402

torch.set_num_threads(1)
BATCH, STEPS, WIDTH, LAYERS = 256, 900, 96, 4


def largest_values(layers):
    return [torch.linalg.svdvals(layer.weight.detach())[0].item() for layer in layers]  # planted here


def work():
    layers = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watched = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        scores = model(torch.randn(BATCH, WIDTH))
        torch.nn.functional.cross_entropy(scores, torch.randint(10, (BATCH,))).backward()
        optimizer.step()
        watched.append(largest_values(layers))


planted.main(work, work)
