# SPDX-License-Identifier: MIT
"""T7: sizes of nothing, products that overflow, memory that is refused: CPython sees libc's answers, and goes on."""
import ctypes
import errno
import resource

from libc import libc

HUGE, HALF = 2 ** 63 - 1, 2 ** 62


def answer(function, *arguments):
    """What a C function gives back, and what it leaves in errno."""
    ctypes.set_errno(0)
    block = getattr(libc, function)(*arguments)
    return block, errno.errorcode.get(ctypes.get_errno(), 0)


for _ in range(1000):
    assert answer("calloc", HUGE, 4) == (None, "ENOMEM")
    assert answer("reallocarray", None, HALF, 8) == (None, "ENOMEM")
    assert answer("malloc", HUGE) == (None, "ENOMEM")
    assert answer("memalign", 64, HUGE) == (None, "ENOMEM")
    none, _ = answer("malloc", 0)
    zero, _ = answer("calloc", 0, 5)
    assert none and zero and none != zero
    kept, _ = answer("malloc", 4242)
    assert answer("realloc", kept, HUGE) == (None, "ENOMEM")
    assert answer("malloc_usable_size", kept)[0] >= 4242
    assert answer("realloc", kept, 0) == (None, 0)
    for block in (none, zero, None):
        assert answer("free", block) == (None, 0)
    assert libc.posix_memalign(ctypes.byref(ctypes.c_void_p()), 3, 10) == errno.EINVAL

refusals = 0
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, resource.RLIM_INFINITY))
for _ in range(1000):
    try:
        bytearray(2 << 30)
    except MemoryError:
        refusals += 1
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print("refusals", refusals, "then", len(bytearray(1 << 20)))
