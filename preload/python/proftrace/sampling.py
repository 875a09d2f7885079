# SPDX-License-Identifier: MIT
"""The thread that looks at regular times, for those who asked for it (`detailed_memory`, `track_system`, `enable_line_profiling`).
It is a daemon, it ends with the last part that needs it, and it holds no lock while it looks."""
from __future__ import annotations

import threading
from typing import Callable, Optional


class Every:
    """Calls `look` each `interval_s` seconds between start() and stop()."""

    def __init__(self, interval_s: float, look: Callable[[], None]) -> None:
        self._interval_s = max(0.001, interval_s)
        self._look = look
        self._users = 0
        self._ends: Optional[threading.Event] = None
        self._lock = threading.Lock()

    def start(self) -> None:
        with self._lock:
            self._users += 1
            if self._users > 1:
                return
            self._ends = threading.Event()
            threading.Thread(target=self._run, args=(self._ends,), name="proftrace", daemon=True).start()

    def stop(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._ends:
                self._ends.set()

    def _run(self, ends: threading.Event) -> None:
        while not ends.wait(self._interval_s):
            self._look()
