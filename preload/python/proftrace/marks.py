# SPDX-License-Identifier: MIT
"""What a program says of itself: ranges, marks, counters, steps, epochs, stages. Through the C API of proftrace.h, which the library
exports into the process; where it is not, each call is a test of None."""
from __future__ import annotations

import ctypes
import functools
from typing import Any, Callable, Dict, TypeVar

from .measured import refuse_pieces

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _bind() -> Dict[str, Any]:
    """The functions of the C API by name; empty without the library."""
    try:
        process = ctypes.PyDLL(None)  # keeps the GIL: each call is 100 ns, and giving it up costs more
        functions = {name: getattr(process, "proftrace_v1_" + name) for name in _ARGUMENTS}
    except (AttributeError, OSError, TypeError):
        return {}
    for name, arguments in _ARGUMENTS.items():
        functions[name].argtypes = arguments
        functions[name].restype = ctypes.c_int if name == "active" else None
    return functions


_ARGUMENTS: Dict[str, Any] = {
    "active": [],
    "range_push": [ctypes.c_char_p],
    "range_pop": [],
    "counter": [ctypes.c_char_p, ctypes.c_double],
    "mark": [ctypes.c_char_p],
    "step": [ctypes.c_ulonglong],
    "epoch": [ctypes.c_ulonglong],
    "stage": [ctypes.c_char_p],
}
_api = _bind()
_push = _api.get("range_push")
_pop = _api.get("range_pop")
_counter = _api.get("counter")
_mark = _api.get("mark")
_step = _api.get("step")
_epoch = _api.get("epoch")
_stage = _api.get("stage")
_active = _api.get("active")
_window: Any = None  # of PROFTRACE_WINDOW, set by the library: steps and epochs that the program marks are those of its windows


def _bytes(name: object) -> bytes:
    return str(name).encode("utf-8", "replace").replace(b"\0", b"?")


def _whole(number: object) -> int:
    """Any number, of numpy or PyTorch, too; a name of ours never ends a program."""
    try:
        return max(0, int(number))  # type: ignore[call-overload,no-any-return,unused-ignore]
    except (TypeError, ValueError, OverflowError):
        return 0


def is_preloaded() -> bool:
    """Whether the library is in this process, recording or not."""
    return bool(_api)


def active() -> bool:
    """Whether this process is recorded.

    >>> active() in (True, False)
    True
    """
    return bool(_active and _active())


class range:
    """A stretch of this thread's time with a name: a context manager, or a decorator of a function. Ranges nest per thread: do not
    hold one across an `await` or a `yield`.

    >>> with range("augment"):
    ...     1 + 1
    2
    >>> @range("load")
    ... def load(path):
    ...     return path.upper()
    >>> load("a")
    'A'
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = _bytes(name)

    def __enter__(self) -> range:
        if _push:
            _push(self._name)
        return self

    def __exit__(self, *error: object) -> None:
        if _pop:
            _pop()

    def __call__(self, function: _Function) -> _Function:
        refuse_pieces(function, "with range(...)")

        @functools.wraps(function)
        def ranged(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return ranged  # type: ignore[return-value]


def mark(name: str) -> None:
    """Something happened now.

    >>> mark("checkpoint written")
    """
    if _mark:
        _mark(_bytes(name))


def counter(name: str, value: float) -> None:
    """A value at this instant: a loss, a queue's length, a learning rate.

    >>> counter("loss", 0.25)
    """
    if _counter:
        try:
            _counter(_bytes(name), float(value))
        except (TypeError, ValueError):
            pass  # no number: nothing to record


def step(number: int) -> None:
    """A training step begins; it lasts until the next one of this thread.

    >>> step(1)
    """
    if _window:
        _window.step()
    if _step:
        _step(_whole(number))


def epoch(number: int) -> None:
    """An epoch begins; it lasts until the next one of this thread.

    >>> epoch(0)
    """
    if _window:
        _window.epoch(_whole(number))
    if _epoch:
        _epoch(_whole(number))


def stage(name: str) -> None:
    """From here on the process does the work of this stage: a name on timelines and in the events. The report's stages are those that
    processes start in (PROFTRACE_STAGE, or the command's name).

    >>> stage("train")
    """
    if _stage:
        _stage(_bytes(name))
