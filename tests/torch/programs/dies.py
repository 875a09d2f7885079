# SPDX-License-Identifier: MIT
"""Ends in the middle of an epoch: dies.py kill | worker | interrupt."""
import os
import signal
import sys
import time

import common  # noqa: F401
import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        if sys.argv[1] == "worker" and index == 200:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.005)
        return torch.ones(64) * index


if sys.argv[1] == "interrupt":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background without it
    os.setpgid(0, 0)  # as a terminal would: the whole group gets it, and not who looks on
model = torch.nn.Linear(64, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
for number, batch in enumerate(DataLoader(Samples(), batch_size=8, num_workers=2)):
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
    if number == 20:
        print("batch 20", flush=True)
        if sys.argv[1] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if sys.argv[1] == "interrupt":
            os.killpg(0, signal.SIGINT)
print("the end")
