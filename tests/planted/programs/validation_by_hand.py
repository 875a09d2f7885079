# SPDX-License-Identifier: MIT
"""Takes its batches out of one tensor, without a loader, and looks at many of them in evaluation mode every 25 steps; the fixed one at
the end."""
import planted
import torch
from torch import nn

STEPS, EVERY = 200, 25


def estimate_loss(net, loss, data):
    net.eval()
    with torch.no_grad():
        for _ in range(150):
            x = data[torch.randint(len(data), (64,))]
            loss(net(x), x[:, :10])
    net.train()


def run(is_fixed):
    torch.manual_seed(0)
    data = torch.randn(4000, 256)
    net = nn.Sequential(nn.Linear(256, 1000), nn.ReLU(), nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 10))
    optimizer, loss = torch.optim.SGD(net.parameters(), 0.01), nn.MSELoss()
    for step in range(1, STEPS + 1):
        x = data[torch.randint(len(data), (64,))]
        optimizer.zero_grad()
        loss(net(x), x[:, :10]).backward()
        optimizer.step()
        if step % (STEPS if is_fixed else EVERY) == 0:
            estimate_loss(net, loss, data)


planted.main(lambda: run(False), lambda: run(True))
