#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Steps of about 20 ms of a small CNN on one thread, without a loader.   usage: b_window.py [STEPS]"""
import sys

import torch

from result import Bench


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(16 * 28 * 28, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    images, labels = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(images), labels).backward()
        optimizer.step()

    for _ in range(5):
        step()
    bench = Bench()
    for _ in range(steps):
        step()
    bench.print(steps)


main()
