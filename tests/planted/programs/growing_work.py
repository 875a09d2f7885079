# SPDX-License-Identifier: MIT
"""Sorts the predictions of all steps so far in each step, for its log; the fixed one does so after the last."""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import torch  # noqa: E402

torch.set_num_threads(1)
STEPS, BATCH, WIDTH = 600, 128, 256


class Metric:
    def __init__(self):
        self.parts = []

    def compute(self):
        scores = torch.cat(self.parts)
        order = torch.argsort(scores, descending=True)
        return torch.cumsum(scores[order], 0)[-1].item()


def train(is_fixed):
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    metric = Metric()
    for step in range(STEPS):
        output = model(torch.randn(BATCH, WIDTH)).squeeze(1)
        optimizer.zero_grad()
        output.square().mean().backward()
        optimizer.step()
        metric.parts.append(output.detach())
        if not is_fixed or step == STEPS - 1:
            metric.compute()


planted.main(lambda: train(False), lambda: train(True))
