# SPDX-License-Identifier: MIT
"""A loader that costs nothing, and behind each step NumPy's histograms of all weights and gradients; the fixed one every hundredth."""
import epochs
import numpy
import planted
import torch
from torch.utils.data import DataLoader

EPOCHS = 14


def histograms(net):
    return [numpy.histogram(values.detach().numpy(), bins=64) for weights in net.parameters() for values in (weights, weights.grad)]


def run(is_fixed):
    net, step = epochs.model(2000), 0
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(EPOCHS):
        for inputs, wanted in DataLoader(epochs.samples(2000), batch_size=64):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(inputs), wanted).backward()
            optimizer.step()
            step += 1
            if not is_fixed or step % 100 == 0:
                histograms(net)


planted.main(lambda: run(False), lambda: run(True))
