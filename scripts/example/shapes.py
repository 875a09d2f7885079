# SPDX-License-Identifier: MIT
"""The data set of train.py: image files in one folder per class, decoded in the DataLoader's workers."""
import os

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset


class Shapes(Dataset):
    def __init__(self, folder, classes):
        self.files = [(os.path.join(folder, name, file), label)
                      for label, name in enumerate(classes)
                      for file in sorted(os.listdir(os.path.join(folder, name)))]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("RGB").resize((96, 96)), dtype=np.float32) / 255
        if index % 2:
            pixels = pixels[:, ::-1]
        return torch.from_numpy(pixels.transpose(2, 0, 1).copy()), label
