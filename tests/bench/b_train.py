#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""P1: epochs of a small CNN over 500 image files (JPEG, PNG, NPY) with a DataLoader.   usage: b_train.py DIR [EPOCHS [WORKERS]]"""
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

from result import Bench

FILES = 500


def prepare(folder):
    os.makedirs(folder, exist_ok=True)
    random = np.random.RandomState(0)
    y, x = np.mgrid[0:96, 0:96]
    for i in range(FILES):
        waves = np.stack([(np.sin(x * (i % 10 + 1) / 20 + c) + np.cos(y * (i % 7 + 1) / 17)) * 60 + 128 for c in range(3)], -1)
        pixels = np.clip(waves + random.randn(96, 96, 3) * 12, 0, 255).astype(np.uint8)
        if i % 5 == 4:
            np.save(f"{folder}/{i:05d}.npy", pixels)
        else:
            Image.fromarray(pixels).save(f"{folder}/{i:05d}.{'png' if i % 2 else 'jpg'}")
    open(f"{folder}/.done", "w").close()


class Waves(Dataset):
    def __init__(self, folder):
        self.folder = folder
        self.files = sorted(f for f in os.listdir(folder) if not f.startswith("."))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        name = self.files[index]
        path = f"{self.folder}/{name}"
        if name.endswith(".npy"):
            image = Image.fromarray(np.load(path))
        else:
            with Image.open(path) as opened:
                image = opened.convert("RGB")
        pixels = np.asarray(image.resize((64, 64)), dtype=np.float32) / 255
        return torch.from_numpy(pixels.transpose(2, 0, 1).copy()), int(name[:5]) % 10


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
        self.third, self.last = nn.Conv2d(32, 64, 3, padding=1), nn.Linear(64 * 8 * 8, 10)

    def forward(self, x):
        for layer in (self.first, self.second, self.third):
            x = F.max_pool2d(F.relu(layer(x)), 2)
        return self.last(x.flatten(1))


def main():
    folder, epochs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    workers = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    if not os.path.exists(f"{folder}/.done"):
        prepare(folder)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    loader = DataLoader(Waves(folder), batch_size=16, shuffle=True, num_workers=workers)
    bench, steps = Bench(), 0
    for _ in range(epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(images), labels).backward()
            optimizer.step()
            steps += 1
    bench.print(steps)


if __name__ == "__main__":
    main()
