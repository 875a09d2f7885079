# SPDX-License-Identifier: MIT
"""Locks across fork. A child has only the thread that forked: a lock that another thread held at that moment stays taken in it for
ever. So the child makes new ones, for all that keep one, before any line of the program runs there.

The thread that holds one may take it again: the handler of a signal, or a __del__, that measures something runs in the midst of ours."""
from __future__ import annotations

import os
import threading
import weakref


class Locked:
    """Has a lock that is free in a child, whoever held it when the process forked."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _all.add(self)

    def _forked(self) -> None:
        """In the child, which has one thread."""
        self._lock = threading.RLock()


_all: "weakref.WeakSet[Locked]" = weakref.WeakSet()


def _in_child() -> None:
    for one in list(_all):
        one._forked()


os.register_at_fork(after_in_child=_in_child)
