# SPDX-License-Identifier: MIT
"""torch.compile with inductor: a compiler for each kernel, in processes of its own."""
import os
import tempfile

import common
import torch

with tempfile.TemporaryDirectory() as folder:
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.LayerNorm(128), torch.nn.Linear(128, 8))
    step = torch.compile(lambda x: (model(x).softmax(-1) * 3).square().sum())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for i in range(20):
        optimizer.zero_grad()
        loss = step(torch.ones(32, 64) * i)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")
