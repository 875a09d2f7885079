# SPDX-License-Identifier: MIT
"""Requests of a service: how long each took, percentiles, and those beyond what was promised."""
from __future__ import annotations

import collections
import contextlib
import math
import time
from typing import ContextManager, Deque, Dict, Iterator, List, Optional, Tuple

from . import marks
from .forks import Locked
from .measured import Measured, seconds

MOST_KEPT = 1_000_000
SAY_EVERY_S = 60  # what was promised, to a trace: a report of its last minutes knows it, too


def percentile(ordered: List[float], share: float) -> float:
    """The smallest value that is at least as large as that share of all (nearest rank); NaN of none.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.0
    """
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


class RequestProfiler(Locked):
    """Times requests, on any thread; each is a range called `name` in the trace, whose report has
    percentiles and, by the hour, how many took longer than `sla_s`. The last million are kept.

    >>> requests = RequestProfiler(sla_s=2.0)
    >>> with requests.profile_request():
    ...     pass
    >>> requests.generate_hourly_report()["requests_processed"]
    1
    """

    def __init__(self, sla_s: float = 2.0, name: str = "request") -> None:
        super().__init__()
        self.sla_s = seconds(sla_s, "sla_s")
        self._range = marks.range(name)
        self._sla_name = f"{name}.sla_s"
        self._said = -math.inf
        self._done: Deque[Tuple[float, float, Optional[str]]] = collections.deque(maxlen=MOST_KEPT)

    def profile_request(self, request_id: Optional[str] = None) -> ContextManager[None]:
        """Time what is inside `with`, or each call of a decorated function (TypeError: a coroutine or a generator).

        >>> requests = RequestProfiler()
        >>> with requests.profile_request("42"):
        ...     pass
        >>> requests.slowest(1)[0][1]
        '42'
        """
        return Measured(lambda: self._time(request_id), "with profile_request(...)")

    @contextlib.contextmanager
    def _time(self, request_id: Optional[str]) -> Iterator[None]:
        begin = time.monotonic()
        if begin - self._said > SAY_EVERY_S:
            self._said = begin
            marks.counter(self._sla_name, self.sla_s)
        try:
            with self._range:
                yield
        finally:
            self.log(time.monotonic() - begin, request_id)

    def log(self, latency_s: float, request_id: Optional[str] = None) -> None:
        """A request that was timed elsewhere.

        >>> requests = RequestProfiler()
        >>> requests.log(1.25, "GET /predict")
        >>> requests.generate_hourly_report()["max_latency"]
        1.25
        """
        latency_s = seconds(latency_s, "latency_s")
        with self._lock:
            self._done.append((time.monotonic(), latency_s, request_id))

    def generate_hourly_report(self, hours: float = 1.0) -> Dict[str, float]:
        """Of the requests that ended in the last hour (or `hours`): requests_processed, average_latency, p50_latency, p95_latency,
        p99_latency, max_latency in seconds (NaN of none), sla_violations.

        >>> requests = RequestProfiler(sla_s=0.5)
        >>> for latency_s in 0.1, 0.2, 0.9:
        ...     requests.log(latency_s)
        >>> report = requests.generate_hourly_report()
        >>> report["p50_latency"], report["p99_latency"], report["sla_violations"]
        (0.2, 0.9, 1)
        """
        since = time.monotonic() - hours * 3600
        with self._lock:
            done = list(self._done)
        ordered = sorted(latency_s for at, latency_s, _ in done if at >= since)
        return {
            "requests_processed": len(ordered),
            "average_latency": sum(ordered) / len(ordered) if ordered else math.nan,
            "p50_latency": percentile(ordered, 0.5),
            "p95_latency": percentile(ordered, 0.95),
            "p99_latency": percentile(ordered, 0.99),
            "max_latency": ordered[-1] if ordered else math.nan,
            "sla_violations": sum(latency_s > self.sla_s for latency_s in ordered),
        }

    def slowest(self, most: int = 10) -> List[Tuple[float, Optional[str]]]:
        """Seconds and id of the slowest requests that are kept.

        >>> requests = RequestProfiler()
        >>> requests.log(0.5, "a"); requests.log(0.7, "b")
        >>> requests.slowest(1)
        [(0.7, 'b')]
        """
        with self._lock:
            done = list(self._done)
        return sorted(((latency_s, name) for _, latency_s, name in done), key=lambda one: -one[0])[:most]
