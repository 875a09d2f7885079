# SPDX-License-Identifier: MIT
"""dies.py interrupt | kill | child | worker: what ends in the middle."""
import os
import signal
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader

torch.set_num_threads(1)
how = sys.argv[1]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background without it


class Model(nn.Linear):
    calls = 0

    def forward(self, x):
        Model.calls += 1
        if Model.calls == 4 and how in ("interrupt", "kill"):
            os.kill(os.getpid(), signal.SIGINT if how == "interrupt" else signal.SIGKILL)
        return super().forward(x)


class Data:
    def __len__(self):
        return 8

    def __getitem__(self, i):
        if how == "worker" and i == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.zeros(4)


model = Model(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if how == "child":
    pid = os.fork()
    model(torch.randn(2, 4))
    if pid == 0:
        os._exit(0)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
for x in DataLoader(Data(), num_workers=1 if how == "worker" else 0):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
