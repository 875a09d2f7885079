# SPDX-License-Identifier: MIT
"""Takes all gradients into a list in each step, to watch their norm, in the loop of the training itself: it prepares no data, so that a loader's
workers would change nothing. The fixed one asks each tensor."""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import torch  # noqa: E402

torch.set_num_threads(1)
STEPS, BATCH, WIDTH = 120, 64, 256


def train(is_fixed):
    torch.manual_seed(0)
    samples, truth = torch.randn(BATCH, WIDTH), torch.randint(10, (BATCH,))
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    norms = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(samples), truth).backward()
        if is_fixed:
            norms.append(sum(float(p.grad.square().sum()) for p in model.parameters()) ** 0.5)
        else:
            values = []
            for p in model.parameters():
                values += p.grad.flatten().tolist()  # planted here
            norms.append(sum(value * value for value in values) ** 0.5)  # planted here
        optimizer.step()


planted.main(lambda: train(False), lambda: train(True))
