# SPDX-License-Identifier: MIT
"""torch.profiler is active, with stacks and memory."""
import json

import common
import torch
from torch.profiler import ProfilerActivity, profile, schedule

model = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16 * 900, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)


def write(p):
    p.export_chrome_trace("trace.json")


with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=4), on_trace_ready=write, with_stack=True,
             profile_memory=True, record_shapes=True) as profiler:
    for i in range(8):
        optimizer.zero_grad()
        loss = model(torch.ones(8, 3, 32, 32) * i).square().mean()
        loss.backward()
        optimizer.step()
        profiler.step()
with open("trace.json", encoding="utf-8") as file:
    names = sorted({e["name"] for e in json.load(file)["traceEvents"] if e.get("cat") == "cpu_op"})
print(f"{loss.item():.9f}", common.hash_of(model), len(names), names[:5])
