# SPDX-License-Identifier: MIT
"""A data set that starts gzip for each sample and waits for what it says, in the training process; the fixed one unpacks by itself."""
import gzip
import os
import random
import subprocess

import planted
import torch

SAMPLES, VALUES = 500, 256


def prepare():
    for i in range(SAMPLES):
        with gzip.open(f"{i}.gz", "wb") as file:
            file.write(random.randbytes(VALUES))


class Packed(torch.utils.data.Dataset):
    def __init__(self, is_fixed):
        self.is_fixed = is_fixed

    def __len__(self):
        return SAMPLES

    def __getitem__(self, i):
        if self.is_fixed:
            with gzip.open(f"{i}.gz") as file:
                values = file.read()
        else:
            values = subprocess.run(["gzip", "-dc", f"{i}.gz"], capture_output=True, check=True).stdout  # planted here
        return torch.frombuffer(bytearray(values), dtype=torch.uint8).float(), i % 10


def work(is_fixed):
    torch.set_num_threads(1)
    model = torch.nn.Linear(VALUES, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0001)
    for values, truth in torch.utils.data.DataLoader(Packed(is_fixed), batch_size=10):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(values), truth).backward()
        optimizer.step()


planted.main(lambda: work(False), lambda: work(True), prepare)
