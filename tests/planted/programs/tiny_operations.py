# SPDX-License-Identifier: MIT
"""A small model that is trained sample by sample; the fixed one takes 256 at once."""
import planted
import torch

SAMPLES = 16_000


def train(batch):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    inputs, wanted = torch.randn(SAMPLES, 32), torch.randint(0, 10, (SAMPLES,))
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for at in range(0, SAMPLES, batch):
        optimizer.zero_grad()  # planted here
        torch.nn.functional.cross_entropy(model(inputs[at:at + batch]), wanted[at:at + batch]).backward()  # planted here
        optimizer.step()  # planted here


planted.main(lambda: train(1), lambda: train(256))
