# SPDX-License-Identifier: MIT
"""Two workers decode each sample anew, and a thread of the loader takes the batches from them and hands them on, as it does for a GPU
(pin_memory=True): the main thread reads nothing from a worker. The fixed one has the samples decoded."""
import loader
import planted
import torch

# The thread is PyTorch's own, which it starts where there is a GPU: what it does with a batch needs one.
torch.cuda.is_available = lambda: True
torch.cuda.current_device = lambda: 0
torch.cuda.set_device = lambda _: None
torch.utils.data._utils.pin_memory.pin_memory = lambda data, device=None: data


class Images(torch.utils.data.Dataset):
    def __init__(self, work):
        self.work = work

    def __len__(self):
        return 240

    def __getitem__(self, index):
        planted.compute(self.work)  # planted here
        return torch.zeros(1000)


def step(_):
    planted.compute(0.002)


planted.main(lambda: loader.train(Images(0.02), 2, step, pin_memory=True), lambda: loader.train(Images(0), 2, step, pin_memory=True))
