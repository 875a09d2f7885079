# SPDX-License-Identifier: MIT
"""Most of the run goes into importing a framework: that is said, and where the rest goes."""
import planted


def run():
    import torch

    planted.compute_for(0.3)
    return torch


planted.main(run, run, planted.measure)
