# SPDX-License-Identifier: MIT
"""Keeps the GPU half idle. (The runner's doubles say so: that of the driver how busy the GPU is, and a CUDA runtime without CUPTI, which
the program loads as PyTorch does, before all others.)"""
import ctypes

import planted


def run():
    ctypes.CDLL("libcudart.so.12", ctypes.RTLD_GLOBAL)
    for _ in range(15):
        planted.compute_for(0.1)
        ctypes.CDLL(None).cudaDeviceSynchronize()


planted.main(run, run, planted.measure)
