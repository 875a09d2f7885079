# SPDX-License-Identifier: MIT
"""The sine of a large tensor, again and again: no tiny operation, though no function with a name of PyTorch's stands in the stack of the library
that computes it (Sleef), nor where the pages of its result are missing. The new tensor is there before the old one goes, so malloc gives memory
back in two of three rounds; with the fixed variant's environment it keeps it."""
import planted
import torch

SIZE, ROUNDS = 400_000, 4000


def work():
    torch.set_num_threads(1)
    values = torch.linspace(0, 1, SIZE)
    for _ in range(ROUNDS):
        values = torch.sin(values)  # planted here


planted.main(work, work)
