# SPDX-License-Identifier: MIT
"""dataset.py FILE - a training whose loader's workers read; with REGRESSION=train:again each sample is read 3.1 times as far."""
import os
import sys

import torch

WITH = os.environ.get("REGRESSION", "").partition(":")[2]
BYTES = 4000000
MORE = 31 if WITH == "again" else 10


class Images(torch.utils.data.Dataset):
    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 160

    def __getitem__(self, index):
        with open(self.path, "rb", buffering=0) as file:
            for _ in range(MORE):
                file.seek(0)
                data = file.read(BYTES)
        return torch.tensor([float(data[index])])


def main():
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    for batch in torch.utils.data.DataLoader(Images(sys.argv[1]), batch_size=8, num_workers=2):
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
