# SPDX-License-Identifier: MIT
"""A training that counts hits in a loop over each prediction, a fifth of its time; the fixed one asks for all at once. Of two programs, by who makes
its batches."""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import torch  # noqa: E402

torch.set_num_threads(1)
CLASSES, BATCH, STEPS = 10, 2048, 3000
AT_ONCE = 50  # batches that a worker hands over at once


def count_hits(matrix, guesses, truth):
    for guess, right in zip(guesses.tolist(), truth.tolist()):  # planted here
        matrix[right][guess] += 1  # planted here
        matrix[right][-1] += guess == right  # planted here


class Batches(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS // AT_ONCE

    def __getitem__(self, index):
        return torch.randn(AT_ONCE, BATCH, 16), torch.randint(CLASSES, (AT_ONCE, BATCH))


def batches(workers):
    data = Batches()
    for samples, truth in torch.utils.data.DataLoader(data, batch_size=None, num_workers=workers) if workers else (data[i] for i in range(len(data))):
        yield from zip(samples, truth)


def work(is_fixed, workers):
    model = torch.nn.Linear(16, CLASSES)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    matrix, matrix_of_all = [[0] * (CLASSES + 1) for _ in range(CLASSES)], torch.zeros(CLASSES * CLASSES)
    for samples, truth in batches(workers):
        scores = model(samples)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(scores, truth).backward()
        optimizer.step()
        guesses = scores.argmax(1)
        if is_fixed:
            matrix_of_all += torch.bincount(truth * CLASSES + guesses, minlength=CLASSES * CLASSES)
        else:
            count_hits(matrix, guesses, truth)


def main(workers):
    planted.main(lambda: work(False, workers), lambda: work(True, workers))
