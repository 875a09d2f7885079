# SPDX-License-Identifier: MIT
"""A training of a few epochs, for what lies between its steps."""
import torch
from torch.utils.data import DataLoader

torch.set_num_threads(1)


def model(width):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 10))


def train(dataset, net, epochs, between=lambda epoch: None, workers=0, **options):
    loader = DataLoader(dataset, batch_size=64, num_workers=workers, **options)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for epoch in range(epochs):
        for inputs, wanted in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(inputs), wanted).backward()
            optimizer.step()
        between(epoch)


def samples(n):
    return torch.utils.data.TensorDataset(torch.randn(n, 64), torch.randint(0, 10, (n,)))
