# SPDX-License-Identifier: MIT
"""Two ranks exchange a gradient after each step, and one has three times the work of the other; the fixed one divides it equally.
They are started as torchrun does it: by a process that looks every 100 ms whether one has ended."""
import os
import subprocess
import sys
import time

import planted

STEPS = 20
WORK = {"bad": (0.3, 0.1), "fixed": (0.2, 0.2)}  # seconds of work in a step, by rank


def train(shares):
    import torch
    import torch.distributed as ranks
    ranks.init_process_group("gloo", init_method=f"file://{os.path.abspath('store')}", rank=int(os.environ["RANK"]),
                             world_size=len(shares))
    gradient = torch.zeros(1000)
    for _ in range(STEPS):
        planted.compute(shares[ranks.get_rank()])  # planted here
        ranks.all_reduce(gradient)
    ranks.destroy_process_group()


def launch(which):
    if "RANK" in os.environ:
        train(WORK[which])
        return
    if os.path.exists("store"):
        os.unlink("store")
    started = [subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2"})
               for rank in range(2)]
    while any(one.poll() is None for one in started):
        time.sleep(0.1)
    sys.exit(max(one.returncode for one in started))


planted.main(lambda: launch("bad"), lambda: launch("fixed"))
