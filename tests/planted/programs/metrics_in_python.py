# SPDX-License-Identifier: MIT
"""A training that counts hits in a loop over each prediction, a fifth of its time; the fixed one asks for all at once."""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import torch  # noqa: E402

torch.set_num_threads(1)
CLASSES, BATCH, STEPS = 10, 2048, 3000


def count_hits(matrix, guesses, truth):
    for guess, right in zip(guesses.tolist(), truth.tolist()):  # planted here
        matrix[right][guess] += 1  # planted here
        matrix[right][-1] += guess == right  # planted here


def work(is_fixed):
    model = torch.nn.Linear(16, CLASSES)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    matrix, matrix_of_all = [[0] * (CLASSES + 1) for _ in range(CLASSES)], torch.zeros(CLASSES * CLASSES)
    for _ in range(STEPS):
        truth = torch.randint(CLASSES, (BATCH,))
        scores = model(torch.randn(BATCH, 16))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(scores, truth).backward()
        optimizer.step()
        guesses = scores.argmax(1)
        if is_fixed:
            matrix_of_all += torch.bincount(truth * CLASSES + guesses, minlength=CLASSES * CLASSES)
        else:
            count_hits(matrix, guesses, truth)


planted.main(lambda: work(False), lambda: work(True))
