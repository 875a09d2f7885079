# SPDX-License-Identifier: MIT
"""A search over parameters that starts a training by command for each of them, whose output it reads; the fixed one calls the function."""
import itertools
import subprocess
import sys

import planted

POINTS = list(itertools.product((0.1, 0.01), (16, 32)))


def train(rate, width):
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    inputs = torch.randn(512, 20)
    net = torch.nn.Sequential(torch.nn.Linear(20, width), torch.nn.ReLU(), torch.nn.Linear(width, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for _ in range(100):
        optimizer.zero_grad()
        loss = net(inputs).square().mean()
        loss.backward()
        optimizer.step()
    return loss.item()


def by_command(rate, width):
    done = subprocess.run([sys.executable, __file__, "train", str(rate), str(width)], capture_output=True, text=True, check=True)
    return float(done.stdout)


if sys.argv[1:2] == ["train"]:
    print(train(float(sys.argv[2]), int(sys.argv[3])))
else:
    planted.main(lambda: min(by_command(*point) for point in POINTS), lambda: min(train(*point) for point in POINTS))
