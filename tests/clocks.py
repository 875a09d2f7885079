# SPDX-License-Identifier: MIT
"""What it costs to read a clock here: tens of nanoseconds where that is no system call, microseconds where it is (a virtual machine without a TSC).
Tests that hold readings of one clock against those of another let so much more pass."""
import time

USUAL_NS = 100  # Python's own part is in it


def slow_clock_ns(readings):
    """By how much so many readings are slower than on a usual machine: 0 on most."""
    times = [time.clock_gettime_ns(time.CLOCK_MONOTONIC) for _ in range(1001)]
    cost_ns = sorted(later - earlier for earlier, later in zip(times, times[1:]))[500]
    return readings * max(0, cost_ns - USUAL_NS)
