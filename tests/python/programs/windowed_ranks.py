# SPDX-License-Identifier: MIT
"""Two ranks that torch.multiprocessing spawns, each with a small training of its own."""
import sys

import torch
from torch import distributed, multiprocessing

RANKS = 2


def train(rank, store):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(8):
        optimizer.zero_grad()
        net(torch.randn(2, 4)).sum().backward()
        optimizer.step()
    distributed.barrier()


if __name__ == "__main__":
    multiprocessing.spawn(train, (sys.argv[1],), nprocs=RANKS)
