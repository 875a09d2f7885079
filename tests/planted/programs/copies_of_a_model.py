# SPDX-License-Identifier: MIT
"""A training that keeps a copy of its model from each step; the fixed one copies it once, at the end."""
import copy
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import torch  # noqa: E402

torch.set_num_threads(1)
BATCH, STEPS, WORDS, WIDTH = 64, 700, 20_000, 128


def train(is_fixed):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Embedding(WORDS, WIDTH), torch.nn.Flatten(), torch.nn.Linear(WIDTH, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    head = model[2:]
    optimizer = torch.optim.SGD(head.parameters(), lr=0.01)
    samples, truth = torch.randn(BATCH, WIDTH), torch.randint(10, (BATCH,))
    best = None
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(head(samples), truth).backward()
        optimizer.step()
        best = best if is_fixed else copy.deepcopy(model)  # planted here
    return best or copy.deepcopy(model)


planted.main(lambda: train(False), lambda: train(True))
