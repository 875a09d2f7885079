# SPDX-License-Identifier: MIT
"""Forks while other threads hold the locks of a Profiler and of a RequestProfiler, as a thread that samples does for moments, in a part of
its own and with a part of another thread open. Prints what the child says, or how it died."""
import os
import signal
import threading
import time

import proftrace

profiler = proftrace.Profiler(detailed_memory=True, memory_interval=0.001, track_system=True, system_interval=0.001)
requests = proftrace.RequestProfiler()
holds, may_end = threading.Event(), threading.Event()


def hold():
    with profiler.profile("of another thread"), profiler._lock, requests._lock, profiler._samplers[0]._lock:
        holds.set()
        may_end.wait()


def child():
    signal.alarm(20)  # instead of waiting for ever
    with profiler.profile("in the child"):
        block = bytearray(100 << 20)
    with requests.profile_request():
        pass
    del block
    print("child", profiler.get_metrics().name, requests.generate_hourly_report()["requests_processed"], len(profiler._open), flush=True)


with profiler.profile("of the parent"):
    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    pid = os.fork()
    if pid:
        may_end.set()
    else:
        child()
if not pid:
    until = time.monotonic() + 5  # threads that sample are told to end, and not waited for
    while threading.active_count() > 1 and time.monotonic() < until:
        time.sleep(0.001)
    print("and", profiler.get_metrics().name, threading.active_count(), flush=True)
    os._exit(0)
thread.join()
_, status = os.waitpid(pid, 0)
print("ended with", status)
