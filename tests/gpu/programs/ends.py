# SPDX-License-Identifier: MIT
"""Python that uses the GPU and ends in one way or another: `ends.py HOW N`, HOW sys.exit, os._exit, sigterm, exception or return.

Needs no torch: libcudart by ctypes, as the loader finds it, from the toolkit, or from the wheels. Sets memory on the GPU N times, waits,
and prints how often it did.
"""
import ctypes
import glob
import json
import os
import signal
import site
import sys


def cudart():
    names = [f"libcudart.so.{major}" for major in ("13", "12", "11.0")]
    folders = [f"{root}/nvidia/*/lib" for root in site.getsitepackages()]
    found = [path for folder in ("/usr/local/cuda/lib64", *folders) for name in names for path in glob.glob(f"{folder}/{name}")]
    for name in names + found:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    sys.exit("no libcudart")


def check(result):
    if result:
        sys.exit(f"CUDA error {result}")


def main():
    how, n = sys.argv[1], int(sys.argv[2])
    cuda, memory = cudart(), ctypes.c_void_p()
    check(cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 20)))
    for i in range(n):
        check(cuda.cudaMemset(memory, i & 255, ctypes.c_size_t(1 << 20)))
    check(cuda.cudaDeviceSynchronize())
    print(json.dumps({"sets": n}), flush=True)
    if how == "sys.exit":
        sys.exit(3)
    if how == "os._exit":
        os._exit(4)
    if how == "sigterm":
        os.kill(os.getpid(), signal.SIGTERM)
    if how == "exception":
        raise RuntimeError("as planned")


if __name__ == "__main__":
    main()
