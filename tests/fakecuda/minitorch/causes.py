# SPDX-License-Identifier: MIT
"""Causes for which a GPU waits. Each keeps its thread for about the wanted time and says when it truly did: what belongs to
it but is another cause (unmapping, starting a thread) is not in these spans."""
import ctypes
import importlib
import mmap
import os
import sys
import threading
import time

from minitorch import cuda

CHUNK_BYTES = 8 << 20
LARGE_BYTES = 2 * CHUNK_BYTES
COPIED_BYTES = 1 << 16  # at once: the GPU waits longer for the next copy than it copies
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


def _touch(mapped, step, is_write, end):
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    start = now_ns()
    cuda.library().mt_touch_until(address, len(mapped), step, is_write, end)
    return start, now_ns()


def page_in(ns, folder):
    """Page faults in a mapped file whose pages are thrown out each time."""
    _, fd, _ = data_file(folder)
    end = now_ns() + ns
    spans = []
    while now_ns() < end:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        with mmap.mmap(fd, LARGE_BYTES, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE) as mapped:
            spans.append(_touch(mapped, 1 << 16, False, end))
    return spans


def fresh_pages(ns, _folder):
    """Memory that was just mapped is written to for the first time."""
    end = now_ns() + ns
    spans = []
    while now_ns() < end:
        with mmap.mmap(-1, LARGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as mapped:
            spans.append(_touch(mapped, 1 << 12, True, end))
    return spans


def lock(ns, _folder):
    """A pthread mutex that another thread holds; its beginning and end are waited for, too."""
    library = cuda.library()
    holder = threading.Thread(target=library.mt_hold_mutex, args=(ns,), name="lock-holder")
    first = now_ns()
    holder.start()
    began = now_ns()
    time.sleep(0.0005)  # the holder is in
    start = now_ns()
    library.mt_take_mutex()
    holder.join()
    return [(first, began), (start, now_ns())]


def python_lock(ns, _folder):
    """A threading.Lock that another thread holds; its beginning and end are waited for, too."""
    held, is_held = threading.Lock(), threading.Event()

    def hold():
        with held:
            is_held.set()
            time.sleep(ns / 1e9)

    holder = threading.Thread(target=hold, name="lock-holder")
    start = now_ns()
    holder.start()
    is_held.wait()
    with held:
        pass
    holder.join()
    return [(start, now_ns())]


def gil(ns, _folder):
    """Another thread runs Python code and does not give the interpreter away."""
    interval = sys.getswitchinterval()
    span = []

    def hold():
        span.append(now_ns())
        loop_until(now_ns() + ns)
        span.append(now_ns())

    holder = threading.Thread(target=hold, name="gil-holder")
    sys.setswitchinterval(10)
    holder.start()
    holder.join()
    sys.setswitchinterval(interval)
    return [tuple(span)]


def loop_until(end_ns):
    total = 0
    while now_ns() < end_ns:
        for i in range(200):
            total += i * i
    return total


def python(ns, _folder):
    """A loop of Python code."""
    loop_until(now_ns() + ns)


def importer(ns, _folder):
    """Code of the interpreter's own importer, which lies in no file: "<frozen importlib._bootstrap_external>"."""
    end, parts = now_ns() + ns, ["package/"] * 3000
    while now_ns() < end:
        importlib._bootstrap_external._path_join(*parts)


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
    """cudaMemcpy from the device into pageable memory, in small pieces."""
    device, host = _sync_copy_tensors()
    cuda.check(cuda.library().mt_copy_for(host.address, device.address, COPIED_BYTES, ns))


CAUSES = {name: globals()[name] for name in ("slow_file", "page_in", "fresh_pages", "lock", "python_lock", "gil", "python", "importer",
                                             "sleep", "cuda_malloc", "heap", "sync_copy")}


def plant(cause, ns, folder):
    """Runs a cause; the intervals in which it kept the calling thread."""
    start = now_ns()
    exact = CAUSES[cause](ns, folder)
    return exact or [(start, now_ns())]
