# SPDX-License-Identifier: MIT
"""Names what it does through the package, for times that its own clock takes; prints them."""
import json
import threading
import time

import proftrace

took = {}


def busy(name, seconds):
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        pass
    took[name] = took.get(name, 0) + time.monotonic() - begin


@proftrace.range("decorated")
def decorated():
    busy("decorated", 0.05)


def in_thread():
    with proftrace.range("in thread"):
        busy("in thread", 0.06)


for epoch in range(2):
    proftrace.epoch(epoch)
    for step in range(5):
        proftrace.step(step)
        with proftrace.range("outer"):
            busy("outer", 0.02)
            with proftrace.range("inner é\0"):
                busy("inner", 0.01)
        proftrace.counter("loss", 1.0 / (step + 1))
proftrace.mark("all done")
decorated()
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
profiler = proftrace.Profiler()
with profiler.profile("measured"):
    busy("measured", 0.1)
try:
    with proftrace.range("raises"):
        raise ValueError
except ValueError:
    pass
metrics = profiler.get_metrics()
print(json.dumps({"took": took, "active": proftrace.active(), "measured": metrics.timing.wall_time_s, "traced": metrics.is_traced}))
