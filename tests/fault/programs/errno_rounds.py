# SPDX-License-Identifier: MIT
"""T15: errno after success is what it was; after failure it is the kernel's. CPython keeps a copy of it around each call."""
import ctypes
import errno
import os

from libc import libc

byte = ctypes.create_string_buffer(16)


def keeps(function, *arguments):
    ctypes.set_errno(77)
    result = getattr(libc, function)(*arguments)
    assert result not in (-1, None) or function == "free", function
    assert ctypes.get_errno() == 77, (function, ctypes.get_errno())
    return result


def fails(code, function, *arguments):
    ctypes.set_errno(77)
    result = getattr(libc, function)(*arguments)
    assert result in (-1, None) and ctypes.get_errno() == code, (function, result, ctypes.get_errno())


for _ in range(3000):
    block = keeps("realloc", keeps("malloc", 100), 4242)
    keeps("free", block)
    fd = keeps("open", b"/dev/zero", os.O_RDWR)
    keeps("read", fd, byte, 16)
    keeps("write", fd, byte, 16)
    keeps("lseek", fd, 0, 0)
    keeps("access", b"/", os.R_OK)
    keeps("close", fd)
    fails(errno.ENOENT, "open", b"/nonexistent/file", os.O_RDONLY)
    fails(errno.ENOTDIR, "open", b"/etc/passwd/file", os.O_RDONLY)
    fails(errno.EISDIR, "open", b"/", os.O_WRONLY)
    fails(errno.EBADF, "read", -1, byte, 1)
    fails(errno.EBADF, "write", 1000000, byte, 1)
    fails(errno.EBADF, "close", -1)
    fails(errno.EBADF, "dup2", -1, 5)
    fails(errno.ENOENT, "unlink", b"/nonexistent")
    fails(errno.EEXIST, "mkdir", b"/", 0o700)
    fails(errno.ENOENT, "rename", b"/nonexistent", b"/nonexistent2")
    fails(errno.ENOMEM, "malloc", 2 ** 63 - 1)
print("kept")
