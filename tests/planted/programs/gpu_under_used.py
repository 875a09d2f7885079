# SPDX-License-Identifier: MIT
"""Keeps the GPU half idle. (The runner's double of the driver says so.)"""
import planted

planted.main(lambda: planted.compute(1.5), lambda: planted.compute(1.5))
