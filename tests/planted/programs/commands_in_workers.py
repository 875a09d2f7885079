# SPDX-License-Identifier: MIT
"""Workers that start sha256sum for each sample, and wait for it; the fixed one has hashlib do it."""
import hashlib
import os
import subprocess

import planted
import torch

SAMPLES, EPOCHS = 150, 3


def prepare():
    for i in range(SAMPLES):
        with open(f"{i}.bin", "wb") as file:
            file.write(os.urandom(20_000))


class Sums(torch.utils.data.Dataset):
    def __init__(self, is_fixed):
        self.is_fixed = is_fixed

    def __len__(self):
        return SAMPLES

    def __getitem__(self, i):
        if self.is_fixed:
            with open(f"{i}.bin", "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
        else:
            digest = subprocess.run(["sha256sum", f"{i}.bin"], capture_output=True, check=True).stdout.decode()  # planted here
        return torch.tensor([float(int(digest[k:k + 2], 16)) for k in range(0, 64, 2)])


def work(is_fixed):
    torch.set_num_threads(1)
    model = torch.nn.Linear(32, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    loader = torch.utils.data.DataLoader(Sums(is_fixed), batch_size=10, num_workers=2, persistent_workers=True)
    for _ in range(EPOCHS):
        for values in loader:
            optimizer.zero_grad()
            model(values).pow(2).mean().backward()
            optimizer.step()


planted.main(lambda: work(False), lambda: work(True), prepare)
