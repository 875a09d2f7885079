# SPDX-License-Identifier: MIT
"""Reads files of the kernel for the package itself. In a traced process each file that is opened stands in the trace, and these are
not the program's: there they are read past the library, by libc's own functions."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Optional

from . import marks

_CHUNK = 1 << 14


def _bind() -> Any:
    """libc where the library is in the process; else None. What is found through its own handle is not the library's."""
    if not marks.is_preloaded():
        return None
    try:
        libc = ctypes.CDLL("libc.so.6")
        libc.open.argtypes, libc.read.argtypes = [ctypes.c_char_p, ctypes.c_int], [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
        libc.close.argtypes, libc.access.argtypes = [ctypes.c_int], [ctypes.c_char_p, ctypes.c_int]
        libc.read.restype = ctypes.c_ssize_t
        return libc
    except (AttributeError, OSError):
        return None


_libc = _bind()


def _read_past(path: str) -> Optional[bytes]:
    buffer, parts = ctypes.create_string_buffer(_CHUNK), []
    descriptor = _libc.open(os.fsencode(path), os.O_RDONLY | os.O_CLOEXEC)
    if descriptor < 0:
        return None
    got = _libc.read(descriptor, buffer, _CHUNK)
    while got > 0:
        parts.append(buffer.raw[:got])
        got = _libc.read(descriptor, buffer, _CHUNK)
    _libc.close(descriptor)
    return b"".join(parts) if got == 0 else None


def text_of(path: str) -> str:
    """What the file holds; empty: it cannot be read.

    >>> text_of("/proc/self/statm").count(" ")
    6
    >>> text_of("/proc/none")
    ''
    """
    if _libc:
        return (_read_past(path) or b"").decode("ascii", "replace")
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def exists(path: str) -> bool:
    """Whether there is such a file.

    >>> exists("/proc/self"), exists("/proc/none")
    (True, False)
    """
    return bool(_libc.access(os.fsencode(path), os.F_OK) == 0) if _libc else os.path.exists(path)
