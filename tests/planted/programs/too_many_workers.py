# SPDX-License-Identifier: MIT
"""24 workers are started for each of three short epochs; the fixed one has one, which stays."""
import planted
import torch
from torch.utils.data import DataLoader

torch.set_num_threads(1)


class Small(torch.utils.data.Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        return torch.zeros(1000)


def run(workers, **options):
    loader = DataLoader(Small(), batch_size=4, num_workers=workers, **options)
    for _ in range(3):
        for _ in loader:  # planted here
            planted.compute(0.001)


planted.main(lambda: run(24), lambda: run(1, persistent_workers=True))
