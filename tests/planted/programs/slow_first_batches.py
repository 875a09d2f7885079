# SPDX-License-Identifier: MIT
"""Each epoch starts its workers again, and each worker first asks for an index. The fixed one keeps them."""
import time

import epochs
import planted
import torch


class Indexed(torch.utils.data.Dataset):
    index = None

    def __len__(self):
        return 1500

    def __getitem__(self, at):
        if self.index is None:
            time.sleep(0.4)
            self.index = list(range(1500))
        return torch.full((64,), self.index[at] / 1500), at % 10


def run(**options):
    epochs.train(Indexed(), epochs.model(500), 5, workers=1, **options)


planted.main(run, lambda: run(persistent_workers=True))
