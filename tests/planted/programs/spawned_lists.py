# SPDX-License-Identifier: MIT
"""Each epoch spawns a worker anew and pickles a data set to it that is a long list of objects. The fixed one keeps it."""
import epochs
import planted
import torch


class Records(torch.utils.data.Dataset):
    def __init__(self):
        self.rows = [{"name": f"record {i}", "words": [str(i), str(i % 31)], "label": i % 10} for i in range(200_000)]

    def __len__(self):
        return 1000

    def __getitem__(self, at):
        row = self.rows[at * 7]
        return torch.full((64,), len(row["words"][0]) / 8), row["label"]


def run(**options):
    epochs.train(Records(), epochs.model(500), 4, workers=1, multiprocessing_context="spawn", **options)


if __name__ == "__main__":
    planted.main(run, lambda: run(persistent_workers=True))
