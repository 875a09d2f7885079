# SPDX-License-Identifier: MIT
"""Two ranks as the tutorials start them: by torch.multiprocessing.spawn, their number an argument of init_process_group, which no
environment holds. One has three times the work of the other; the fixed one divides it equally."""
import os
import sys

import planted

STEPS = 20
WORK = {"bad": (0.3, 0.1), "fixed": (0.2, 0.2)}  # seconds of work in a step, by rank


def train(rank, shares):
    import torch
    import torch.distributed as ranks
    ranks.init_process_group("gloo", init_method=f"file://{os.path.abspath('store')}", rank=rank, world_size=len(shares))
    gradient = torch.zeros(1000)
    for _ in range(STEPS):
        planted.compute(shares[rank])  # planted here
        ranks.all_reduce(gradient)
    ranks.destroy_process_group()


def launch(which):
    import torch.multiprocessing
    if os.path.exists("store"):
        os.unlink("store")
    torch.multiprocessing.spawn(train, (WORK[which],), nprocs=2)


if __name__ == "__main__":
    planted.main(lambda: launch("bad"), lambda: launch("fixed"))
