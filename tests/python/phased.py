# SPDX-License-Identifier: MIT
"""A training whose Python computes for known times in phases: reading samples (in workers where asked), in the forward pass, and
between two phases. Prints the CPU seconds of each by its own clock, of all processes together.

  phased.py WORKERS"""
import json
import multiprocessing
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

WORKERS = int(sys.argv[1])
own_s = {name: multiprocessing.Value("d") for name in ("worker_fetch", "forward", "between phases")}


def compute(phase, seconds):
    begin = time.thread_time()
    while time.thread_time() < begin + seconds:
        pass
    with own_s[phase].get_lock():
        own_s[phase].value += time.thread_time() - begin


class Samples(Dataset):
    def __len__(self):
        return 240

    def __getitem__(self, index):
        compute("worker_fetch", 0.003)
        return torch.ones(16), index % 4


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 4)

    def forward(self, batch):
        compute("forward", 0.015)
        return self.layer(batch)


torch.set_num_threads(1)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    for data, target in DataLoader(Samples(), batch_size=12, num_workers=WORKERS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(data), target)
        loss.backward()
        optimizer.step()
        compute("between phases", 0.01)
print(json.dumps({name: value.value for name, value in own_s.items()}))
