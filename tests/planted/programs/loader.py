# SPDX-License-Identifier: MIT
"""What the DataLoader programs share."""
import torch
from torch.utils.data import DataLoader

torch.set_num_threads(1)


def train(dataset, workers, step, epochs=1, **options):
    loader = DataLoader(dataset, batch_size=4, num_workers=workers, **options)
    for _ in range(epochs):
        for batch in loader:
            step(batch)
