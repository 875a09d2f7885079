# SPDX-License-Identifier: MIT
"""A data set that reads its table of labels again for each sample: of two programs, by where it does so."""
import loader
import planted
import torch

SAMPLES = 160


def read_labels(path):
    with open(path) as file:
        return dict(line.split(",") for line in file)  # planted here


class Labelled(torch.utils.data.Dataset):
    def __init__(self, is_fixed):
        self.labels = read_labels("labels.csv") if is_fixed else None

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        labels = self.labels or read_labels("labels.csv")
        return torch.full((64,), float(labels[f"name{index}"]))


def prepare():
    with open("labels.csv", "w") as file:
        for i in range(20_000):
            file.write(f"name{i},{i % 10}\n")


weights = torch.ones(140, 140)


def step(batch):
    weights.mm(weights).sum().item()
    return batch.sum().item()


def main(workers):
    def work(is_fixed):
        loader.train(Labelled(is_fixed), workers, step)

    planted.main(lambda: work(False), lambda: work(True), prepare)
