# SPDX-License-Identifier: MIT
"""What `with` and `@` take alike: a stretch that is measured, and each call of a function."""
from __future__ import annotations

import functools
import inspect
from threading import get_ident
from typing import Any, Callable, ContextManager, Dict, List, Optional, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def refuse_pieces(function: Callable[..., Any], instead: str) -> None:
    """TypeError for what returns before its work is done: the call would be measured, and not the work.

    >>> def numbers():
    ...     yield 1
    >>> refuse_pieces(numbers, "with range(...)")
    Traceback (most recent call last):
    ...
    TypeError: numbers is a coroutine or a generator: it runs in pieces between others, and ranges nest per thread; use `with range(...)` around what runs without a pause
    """
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{getattr(function, '__qualname__', function)} is a coroutine or a generator: it runs in pieces between others, and "
                        f"ranges nest per thread; use `{instead}` around what runs without a pause")


class Measured:
    """`make` makes what measures one stretch: for `with` one, for a decorated function one per call."""

    def __init__(self, make: Callable[[], ContextManager[None]], instead: str) -> None:
        self._make, self._instead = make, instead
        self._open: Dict[int, List[ContextManager[None]]] = {}  # by thread, the innermost last: of a `with` that is used again

    def __enter__(self) -> None:
        part = self._make()
        part.__enter__()
        self._open.setdefault(get_ident(), []).append(part)

    def __exit__(self, *error: Any) -> Optional[bool]:
        thread = get_ident() if get_ident() in self._open else next(iter(self._open))  # or it was given to another one
        parts = self._open[thread]
        part = parts.pop()
        if not parts:
            del self._open[thread]
        return part.__exit__(*error)

    def __call__(self, function: _Function) -> _Function:
        refuse_pieces(function, self._instead)

        @functools.wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            with self._make():
                return function(*args, **kwargs)

        return measured  # type: ignore[return-value]


def seconds(value: Any, what: str) -> float:
    """A length of time as a float; TypeError or ValueError says whose it is.

    >>> seconds(2, "sla_s")
    2.0
    >>> seconds("fast", "sla_s")
    Traceback (most recent call last):
    ...
    TypeError: sla_s must be a number of seconds, not 'fast'
    """
    try:
        number = float(value) if not isinstance(value, (str, bytes)) else None
    except (TypeError, ValueError):
        number = None
    if number is None:
        raise TypeError(f"{what} must be a number of seconds, not {value!r}")
    if not number >= 0:
        raise ValueError(f"{what} must not be less than 0, and is {value!r}")
    return number
