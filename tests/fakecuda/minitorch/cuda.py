# SPDX-License-Identifier: MIT
"""Tensors, kernels and ranges through the extension, which is linked against a double of libcudart."""
import contextlib
import ctypes
import os

KERNELS = ("gemm", "elementwise", "reduce", "adam", "softmax", "allreduce")
HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3
PROGRAM = ("kernel *gemm* 400000; kernel *elementwise* 50000; kernel *reduce_kernel* 20000; kernel *multi_tensor* 150000; "
           "kernel *softmax* 30000; kernel *nccl* 200000; module_load_ns 1e5; lazy_load_ns 1e4")

_library = None


class CudaError(RuntimeError):
    pass


def library():
    """The extension; loading it does not initialise CUDA."""
    global _library
    if _library is None:
        if not os.environ.get("FAKECUDA") and not os.environ.get("FAKECUDA_PROGRAM"):
            os.environ["FAKECUDA"] = PROGRAM
        path = os.environ.get("MINITORCH") or os.path.join(
            os.environ.get("PROFTRACE_BUILD", "build"), "fakecuda", "libminitorch_13.so")
        _library = ctypes.CDLL(os.path.abspath(path))
        _library.mt_now_ns.restype = ctypes.c_uint64
        for name, types in (("mt_launch", (ctypes.c_int, ctypes.c_uint, ctypes.c_void_p)),
                            ("mt_allocate", (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)),
                            ("mt_release", (ctypes.c_void_p, ctypes.c_int)),
                            ("mt_copy", (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)),
                            ("mt_set", (ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p)),
                            ("mt_synchronize", (ctypes.c_void_p,)), ("mt_stream", (ctypes.c_void_p,)),
                            ("mt_hold_mutex", (ctypes.c_uint64,)), ("mt_cuda_malloc_for", (ctypes.c_uint64,)),
                            ("mt_heap_for", (ctypes.c_uint64,)),
                            ("mt_copy_for", (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64)),
                            ("mt_touch_until", (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_uint64)),
                            ("mt_range_push", (ctypes.c_char_p,)),
                            ("mt_mark", (ctypes.c_char_p,))):
            getattr(_library, name).argtypes = types
    return _library


def check(error):
    if error:
        raise CudaError(f"CUDA error: {error}")


class Tensor:
    """Bytes in host memory (pageable or pinned) or on the device; kernels do not compute."""

    def __init__(self, n_bytes, place="cpu"):
        self.n_bytes, self.place = n_bytes, place
        if place == "cpu":
            self.buffer = ctypes.create_string_buffer(n_bytes)
            self.address = ctypes.addressof(self.buffer)
        else:
            address = ctypes.c_void_p()
            check(library().mt_allocate(ctypes.byref(address), n_bytes, place == "pinned"))
            self.address = address.value

    def free(self):
        if self.place != "cpu" and self.address:
            check(library().mt_release(self.address, self.place == "pinned"))
            self.address = None

    def pin_memory(self):
        pinned = Tensor(self.n_bytes, "pinned")
        ctypes.memmove(pinned.address, self.address, self.n_bytes)
        return pinned

    def copy_(self, source, non_blocking=False, stream=None):
        direction = (HOST_TO_DEVICE if self.place == "cuda" and source.place != "cuda" else
                     DEVICE_TO_HOST if source.place == "cuda" and self.place != "cuda" else DEVICE_TO_DEVICE)
        check(library().mt_copy(self.address, source.address, min(self.n_bytes, source.n_bytes), direction, stream,
                                non_blocking))
        return self

    def to(self, place, non_blocking=False, stream=None):
        return Tensor(self.n_bytes, place).copy_(self, non_blocking, stream)

    def zero_(self, stream=None):
        check(library().mt_set(self.address, 0, self.n_bytes, stream))

    def item(self):
        """Waits for the device, as torch's does."""
        host = Tensor(4)
        host.copy_(self)
        return int.from_bytes(host.buffer.raw, "little")


def launch(kernel, n_blocks=64, stream=None):
    check(library().mt_launch(KERNELS.index(kernel), n_blocks, stream))


def stream():
    handle = ctypes.c_void_p()
    check(library().mt_stream(ctypes.byref(handle)))
    return handle.value


def synchronize():
    check(library().mt_synchronize_device())


@contextlib.contextmanager
def nvtx_range(text):
    """torch.cuda.nvtx.range"""
    library().mt_range_push(text.encode())
    try:
        yield
    finally:
        library().mt_range_pop()


class Model:
    """Layers of one matrix product and one activation each, with their weights and Adam's two moments."""

    def __init__(self, n_layers, n_bytes, stream=None):
        self.n_layers, self.stream = n_layers, stream
        self.weights = [Tensor(n_bytes, "cuda") for _ in range(n_layers)]
        self.gradients = [Tensor(n_bytes, "cuda") for _ in range(n_layers)]
        self.loss = Tensor(4, "cuda")

    def forward(self):
        for _ in range(self.n_layers):
            launch("gemm", 64, self.stream)
            launch("elementwise", 32, self.stream)
        launch("softmax", 8, self.stream)
        launch("reduce", 1, self.stream)

    def backward(self):
        for _ in range(self.n_layers):
            launch("gemm", 64, self.stream)
            launch("gemm", 64, self.stream)

    def step(self):
        launch("adam", 16, self.stream)

    def zero_grad(self):
        for gradient in self.gradients:
            gradient.zero_(self.stream)
