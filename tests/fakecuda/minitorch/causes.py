# SPDX-License-Identifier: MIT
"""Causes for which a GPU waits. Each keeps its thread busy for about the wanted time and says when it truly did."""
import ctypes
import mmap
import os
import sys
import threading
import time

from minitorch import cuda

CHUNK_BYTES = 8 << 20
_files = {}


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def data_file(folder):
    """A file of 64 MB, and a buffer to read it into."""
    if folder not in _files:
        path = os.path.join(folder, f"dataset.{os.getpid()}.bin")
        with open(path, "wb") as file:
            for _ in range(8):
                file.write(os.urandom(1 << 20) * (CHUNK_BYTES >> 20))
        _files[folder] = (path, os.open(path, os.O_RDONLY), bytearray(CHUNK_BYTES))
    return _files[folder]


def prepare(cause, folder):
    """What must not be paid within a measured cause."""
    if cause in ("slow_file", "page_in"):
        data_file(folder)
    if cause == "sync_copy":
        _sync_copy_tensors()


def slow_file(ns, folder):
    """read() of a large file, again and again."""
    _, fd, buffer = data_file(folder)
    end = now_ns() + ns
    at = 0
    while now_ns() < end:
        os.preadv(fd, [buffer], at % (8 * CHUNK_BYTES))
        at += CHUNK_BYTES


def page_in(ns, folder):
    """Page faults in a mapped file whose pages are thrown out each time."""
    _, fd, _ = data_file(folder)
    end = now_ns() + ns
    while now_ns() < end:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        with mmap.mmap(fd, 2 * CHUNK_BYTES, prot=mmap.PROT_READ) as mapped:
            for at in range(0, 2 * CHUNK_BYTES, 1 << 16):
                _ = mapped[at]
                if now_ns() >= end:
                    break


def lock(ns, _folder):
    """A pthread mutex that another thread holds."""
    library = cuda.library()
    holder = threading.Thread(target=library.mt_hold_mutex, args=(ns,), name="lock-holder")
    holder.start()
    time.sleep(0.0005)  # the holder is in
    start = now_ns()
    library.mt_take_mutex()
    end = now_ns()
    holder.join()
    return start, end


def python_lock(ns, _folder):
    """A threading.Lock that another thread holds."""
    held, is_held = threading.Lock(), threading.Event()

    def hold():
        with held:
            is_held.set()
            time.sleep(ns / 1e9)

    holder = threading.Thread(target=hold, name="lock-holder")
    holder.start()
    is_held.wait()
    start = now_ns()
    with held:
        pass
    end = now_ns()
    holder.join()
    return start, end


def gil(ns, _folder):
    """Another thread runs Python code and does not give the interpreter away."""
    interval = sys.getswitchinterval()
    began = threading.Event()

    def hold():
        began.set()
        loop_until(now_ns() + ns)

    holder = threading.Thread(target=hold, name="gil-holder")
    sys.setswitchinterval(10)
    start = now_ns()
    holder.start()
    began.wait()
    end = now_ns()
    holder.join()
    sys.setswitchinterval(interval)
    return start, end


def loop_until(end_ns):
    total = 0
    while now_ns() < end_ns:
        for i in range(200):
            total += i * i
    return total


def python(ns, _folder):
    """A loop of Python code."""
    loop_until(now_ns() + ns)


def sleep(ns, _folder):
    time.sleep(ns / 1e9)


def cuda_malloc(ns, _folder):
    cuda.check(cuda.library().mt_cuda_malloc_for(ns))


def heap(ns, _folder):
    cuda.library().mt_heap_for(ns)


_tensors = None


def _sync_copy_tensors():
    global _tensors
    if _tensors is None:
        _tensors = (cuda.Tensor(CHUNK_BYTES, "cuda"), cuda.Tensor(CHUNK_BYTES))
        ctypes.memset(_tensors[1].address, 1, CHUNK_BYTES)
    return _tensors


def sync_copy(ns, _folder):
    """cudaMemcpy from the device into pageable memory."""
    device, host = _sync_copy_tensors()
    end = now_ns() + ns
    while now_ns() < end:
        host.copy_(device)


CAUSES = {name: globals()[name] for name in ("slow_file", "page_in", "lock", "python_lock", "gil", "python", "sleep",
                                             "cuda_malloc", "heap", "sync_copy")}


def plant(cause, ns, folder):
    """Runs a cause; the interval in which it kept the calling thread."""
    start = now_ns()
    exact = CAUSES[cause](ns, folder)
    return exact or (start, now_ns())
