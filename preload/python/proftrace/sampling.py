# SPDX-License-Identifier: MIT
"""The thread that looks at regular times, for those who asked for it (`detailed_memory`, `track_system`, `enable_line_profiling`).
It is a daemon, it ends with the last part that needs it, and it holds no lock while it looks. A child of fork has none, until a part
begins there."""
from __future__ import annotations

import threading
from typing import Callable, Optional

from .forks import Locked


class Every(Locked):
    """Calls `look` each `interval_s` seconds between start() and stop(); `first` before the first part of those that overlap, `last`
    behind the last one."""

    def __init__(self, interval_s: float, look: Callable[[], None], first: Optional[Callable[[], None]] = None,
                 last: Optional[Callable[[], None]] = None) -> None:
        super().__init__()
        self._interval_s = min(max(0.001, interval_s), threading.TIMEOUT_MAX)
        self._look, self._first, self._last = look, first, last
        self._users = 0
        self._ends: Optional[threading.Event] = None

    def _forked(self) -> None:
        super()._forked()
        self._users, self._ends = 0, None

    def start(self) -> None:
        with self._lock:
            self._users += 1  # before: a handler that measures, too, is not the first
            if self._users > 1:
                return
            try:
                self._begin()
            except BaseException:
                self._users -= 1
                raise

    def _begin(self) -> None:
        if self._first:
            self._first()
        ends = threading.Event()
        try:
            threading.Thread(target=self._run, args=(ends,), name="proftrace", daemon=True).start()
        except RuntimeError:  # no more threads, or the interpreter ends: the program goes on without samples
            return
        self._ends = ends

    def stop(self) -> None:
        with self._lock:
            self._users = max(0, self._users - 1)  # a part that began before a fork ends in the child, too
            if self._users:
                return
            ends, self._ends = self._ends, None
            if not ends:
                return
            ends.set()
            if self._last:
                self._last()

    def _run(self, ends: threading.Event) -> None:
        while not ends.wait(self._interval_s):
            self._look()
