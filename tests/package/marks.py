# SPDX-License-Identifier: MIT
"""Says all that the package can say, on two threads; prints what it said, where (native thread), and its own clock before and after each call."""
import json
import threading
import time

import proftrace

said = []


def say(event, what, call):
    before = time.monotonic_ns()
    call()
    said.append({"event": event, "what": what, "thread": threading.get_native_id(), "before": before, "after": time.monotonic_ns()})


def within(name, inside=()):
    part = proftrace.range(name)
    say("range_begin", name, part.__enter__)
    for what in inside:
        what()
    time.sleep(0.002)
    say("range_end", name, part.__exit__)


def beside():
    within("worker", [lambda: within("nested"), lambda: say("mark", "from the worker", lambda: proftrace.mark("from the worker"))])


say("stage", "naming", lambda: proftrace.stage("naming"))
for epoch in range(2):
    say("epoch", epoch, lambda: proftrace.epoch(epoch))
    for step in range(3):
        say("step", 10 * epoch + step, lambda: proftrace.step(10 * epoch + step))
        within("outer", [lambda: within("inner", [lambda: within("innermost")]), lambda: within("inner")])
        say("counter", ["loss", step / 4], lambda: proftrace.counter("loss", step / 4))
say("mark", "all done", lambda: proftrace.mark("all done"))
thread = threading.Thread(target=beside)
thread.start()
within("beside the worker")
thread.join()
print(json.dumps(said))
