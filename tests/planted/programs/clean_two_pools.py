# SPDX-License-Identifier: MIT
"""Healthy: two libraries bring a pool of threads each, one for each CPU. One of them works, and spins between its operations; the other was needed
once. There are more threads that can spin than CPUs, but not at once: fewer would make it slower."""
import planted
import torch

SIZE, ROUNDS = 400_000, 1000


def work():
    torch.set_num_threads(2)
    torch.mm(torch.randn(600, 600), torch.randn(600, 600))  # OpenBLAS
    values = torch.linspace(0, 1, SIZE)
    unsorted = torch.randn(30_000)
    for _ in range(ROUNDS):
        torch.sin(values, out=values)  # libgomp, as torch uses it
        torch.sort(unsorted)  # in one thread


planted.main(work, work)
