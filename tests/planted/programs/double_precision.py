# SPDX-License-Identifier: MIT
"""Trains a perceptron in float64; the fixed one in float32."""
import planted
import torch

STEPS, SAMPLES = 150, 64


def train(dtype):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    inputs, wanted = torch.randn(STEPS * SAMPLES, 512, dtype=dtype), torch.randint(0, 10, (STEPS * SAMPLES,))
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))
    model = model.to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for at in range(0, STEPS * SAMPLES, SAMPLES):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs[at:at + SAMPLES]), wanted[at:at + SAMPLES])  # planted here
        loss.backward()  # planted here
        optimizer.step()


planted.main(lambda: train(torch.float64), lambda: train(torch.float32))
