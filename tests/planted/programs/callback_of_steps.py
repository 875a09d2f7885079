# SPDX-License-Identifier: MIT
"""A trainer that calls a callback behind each step, which counts hits one by one in a tensor: tiny operations, but none of the steps', so that
larger batches would change nothing. The fixed one counts all of a batch at once."""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import torch  # noqa: E402

torch.set_num_threads(1)
CLASSES, BATCH, STEPS = 10, 256, 500


class Hits:
    def __init__(self):
        self.matrix = torch.zeros(CLASSES, CLASSES, dtype=torch.long)

    def on_step_end(self, guesses, truth):
        for guess, right in zip(guesses, truth):  # planted here
            self.matrix[right, guess] += 1  # planted here


class HitsAtOnce(Hits):
    def on_step_end(self, guesses, truth):
        self.matrix += torch.bincount(truth * CLASSES + guesses, minlength=CLASSES * CLASSES).view(CLASSES, CLASSES)


class Trainer:
    def __init__(self, callback):
        self.callback = callback
        self.model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, CLASSES))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def step(self, samples, truth):
        self.optimizer.zero_grad()
        scores = self.model(samples)
        torch.nn.functional.cross_entropy(scores, truth).backward()
        self.optimizer.step()
        return scores.detach()

    def fit(self, samples, truth):
        for _ in range(STEPS):
            scores = self.step(samples, truth)
            self.callback.on_step_end(scores.argmax(1), truth)


def work(callback):
    torch.manual_seed(0)
    Trainer(callback).fit(torch.randn(BATCH, 64), torch.randint(CLASSES, (BATCH,)))


planted.main(lambda: work(Hits()), lambda: work(HitsAtOnce()))
