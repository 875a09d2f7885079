# SPDX-License-Identifier: MIT
"""A CNN on a folder of images, two workers that stay: cnn.py [fork|spawn|forkserver]."""
import sys

import common
import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        return common.load_image(f"images/{index:04d}.jpg", 64), index % 10


def main():
    common.make_images(160, 256)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3), torch.nn.ReLU(),
                                torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(), torch.nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Images(), batch_size=16, num_workers=2, persistent_workers=True, multiprocessing_context=sys.argv[1])
    for epoch in range(3):
        total = 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total:.9f}")
    print(common.hash_of(model))


if __name__ == "__main__":
    main()
