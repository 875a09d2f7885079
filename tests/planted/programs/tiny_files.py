# SPDX-License-Identifier: MIT
"""A training that reads thousands of tiny images itself: hardly any decoding, but Python around each file. The fixed one has them in
memory."""
import os

import loader
import numpy as np
import planted
import torch
from PIL import Image

IMAGES = 12_000


class Files(torch.utils.data.Dataset):
    def __len__(self):
        return IMAGES

    def __getitem__(self, index):
        with Image.open(f"tiny/{index}.png") as image:  # planted here
            return torch.from_numpy(np.array(image.convert("RGB"))).float()  # planted here


weights = torch.ones(60, 60)


def step(batch):
    weights.mm(weights).sum().item()
    return batch.sum().item()


def prepare():
    os.makedirs("tiny", exist_ok=True)
    for i in range(IMAGES):
        Image.fromarray(np.full((16, 16, 3), i % 256, np.uint8)).save(f"tiny/{i}.png")


planted.main(lambda: loader.train(Files(), 0, step),
             lambda: loader.train(torch.utils.data.TensorDataset(torch.zeros(IMAGES, 16, 16, 3)), 0, lambda batch: step(batch[0])), prepare)
