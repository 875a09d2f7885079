# SPDX-License-Identifier: MIT
"""Looks at all of its validation data after each epoch; the fixed one after the last."""
import epochs
import planted
import torch
from torch.utils.data import DataLoader

EPOCHS = 8


def run(is_fixed):
    net, held_out = epochs.model(1000), DataLoader(epochs.samples(24_000), batch_size=64)

    def validate(epoch):
        if is_fixed and epoch < EPOCHS - 1:
            return
        net.eval()
        with torch.no_grad():
            for inputs, _ in held_out:
                net(inputs)
        net.train()

    epochs.train(epochs.samples(1500), net, EPOCHS, validate)


planted.main(lambda: run(False), lambda: run(True))
