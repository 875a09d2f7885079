# SPDX-License-Identifier: MIT
"""Two ranks on gloo; rank 0 has four times as many tokens: the other one waits for it in every step."""
import os

import common
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
tokens = 4000 if rank == 0 or "EVEN" in os.environ else 400
for step in range(60):
    optimizer.zero_grad()
    loss = model(torch.ones(tokens, 256) * (step % 7)).square().mean()
    loss.backward()
    optimizer.step()
if rank == 0:
    print(f"loss {loss.item():.9f} {common.hash_of(model.module)}")
del loss, optimizer, model  # else PyTorch 2.13 may abort at its end, with us or without: once in six runs
dist.barrier()
dist.destroy_process_group()
