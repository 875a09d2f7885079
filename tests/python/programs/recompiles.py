# SPDX-License-Identifier: MIT
"""One frame that is compiled for three types, one with a break."""
import torch

torch.set_num_threads(1)


@torch.compile(backend="eager", dynamic=False)
def typed(x):
    return x + 1


@torch.compile(backend="eager")
def broken(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


for kind in torch.float32, torch.float64, torch.int32:
    typed(torch.zeros(3, dtype=kind))
    typed(torch.zeros(3, dtype=kind))
broken(torch.zeros(3))
