# SPDX-License-Identifier: MIT
"""A stream of samples that each worker reads from all of its files; the fixed one gives each worker its share of them."""
import json

import loader
import planted
import torch

FILES, LINES = 6, 700


class Stream(torch.utils.data.IterableDataset):
    def __init__(self, is_fixed):
        self.is_fixed = is_fixed

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        for number in range(info.id, FILES, info.num_workers) if self.is_fixed else range(FILES):
            with open(f"samples{number}.jsonl") as file:
                for line in file:  # planted here
                    yield torch.tensor(json.loads(line))


def prepare():
    for number in range(FILES):
        with open(f"samples{number}.jsonl", "w") as file:
            for line in range(LINES):
                file.write(json.dumps([(number + line * k) % 97 / 97 for k in range(800)]) + "\n")


def step(batch):
    return batch.sum().item()


planted.main(lambda: loader.train(Stream(False), 2, step, epochs=3), lambda: loader.train(Stream(True), 2, step, epochs=3), prepare)
