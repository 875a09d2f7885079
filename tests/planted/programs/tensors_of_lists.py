# SPDX-License-Identifier: MIT
"""A replay memory that keeps its observations as lists of numbers, of which each step makes tensors; the fixed one keeps tensors and joins them."""
import random

import planted
import torch

torch.set_num_threads(1)
torch.manual_seed(0)


def observe(place):
    field = [0.0] * 256
    field[place] = 1.0
    return field


def batch_of(memory):
    rows, wanted = zip(*random.sample(memory, 64))
    return torch.tensor(rows), torch.tensor(wanted)


def batch_of_tensors(memory):
    rows, wanted = zip(*random.sample(memory, 64))
    return torch.stack(rows), torch.tensor(wanted)


def run(keep, take):
    net = torch.nn.Sequential(torch.nn.Linear(256, 128), torch.nn.ReLU(), torch.nn.Linear(128, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    memory = [(keep(observe(i % 256)), i % 4) for i in range(2000)]
    for step in range(3000):
        memory[step % len(memory)] = keep(observe(step % 256)), step % 4
        inputs, wanted = take(memory)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(inputs), wanted).backward()
        optimizer.step()


planted.main(lambda: run(list, batch_of), lambda: run(torch.tensor, batch_of_tensors))
