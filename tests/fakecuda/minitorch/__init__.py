# SPDX-License-Identifier: MIT
"""A small torch over the doubles of CUDA: enough to train, to load data in workers, and to keep a GPU waiting."""
