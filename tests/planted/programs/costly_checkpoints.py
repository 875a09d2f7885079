# SPDX-License-Identifier: MIT
"""Saves all that it has learned after each short epoch; the fixed one does so after the last."""
import epochs
import planted
import torch

EPOCHS = 20


def run(is_fixed):
    net = epochs.model(500)
    ballast = torch.randn(20_000_000)

    def save(epoch):
        if not is_fixed or epoch == EPOCHS - 1:
            torch.save({"model": net.state_dict(), "ballast": ballast}, "checkpoint.pt")

    epochs.train(epochs.samples(1500), net, EPOCHS, save)


planted.main(lambda: run(False), lambda: run(True))
