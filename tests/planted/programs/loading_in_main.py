# SPDX-License-Identifier: MIT
"""A training that decodes its images itself between the steps; the fixed one lets two workers do it."""
import loader
import numpy as np
import planted
import torch
from PIL import Image

IMAGES, EDGE = 40, 900


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return IMAGES

    def __getitem__(self, index):
        with Image.open(f"image-{index:03d}.jpg") as image:  # planted here
            pixels = np.asarray(image.convert("RGB").resize((64, 64)))  # planted here
        return torch.from_numpy(pixels.copy()).float()


weights = torch.ones(200, 200)


def step(batch):
    for _ in range(4):
        weights.mm(weights).sum().item()
    return batch.sum().item()


def prepare():
    random = np.random.RandomState(0)
    for i in range(IMAGES):
        Image.fromarray(random.randint(0, 256, (EDGE, EDGE, 3), dtype=np.uint8)).save(f"image-{i:03d}.jpg", quality=92)


planted.main(lambda: loader.train(Images(), 0, step, 5), lambda: loader.train(Images(), 2, step, 5, persistent_workers=True), prepare)
