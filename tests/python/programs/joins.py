# SPDX-License-Identifier: MIT
"""One process joins a group of its own, or two that torch.multiprocessing starts join one; no environment says their ranks."""
import os
import sys

import torch.distributed
import torch.multiprocessing


def join(rank, n, store):
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=n)
    torch.distributed.all_reduce(torch.ones(2))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.spawn(join, (int(sys.argv[1]), os.path.abspath(sys.argv[2])), nprocs=int(sys.argv[1]))
