#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What Python's garbage collector costs is what it computes, not what another program on the same CPU took from it meanwhile."""
import contextlib
import os
import subprocess
import sys
import unittest

from account_case import AccountCase, thrice

PROGRAM = """
import gc, os, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
took = [0, 0, 0]
def tell(phase, info, start=[0, 0]):
    now = time.monotonic(), time.thread_time()
    if phase == "start":
        start[:] = now
    else:
        took[0] += now[0] - start[0]; took[1] += now[1] - start[1]; took[2] += 1
gc.callbacks.append(tell)
gc.set_threshold(700, 10, 10)
kept = [[(i, [i]) for i in range(100_000)] for _ in range(15)]
gc.callbacks.remove(tell)
print(*took)
"""


@contextlib.contextmanager
def busy_on_the_first_cpu():
    loop = "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-S", "-c", loop]) as process:
        try:
            yield
        finally:
            process.kill()


class Collector(AccountCase):
    @thrice
    def test_beside_a_busy_loop_on_its_cpu(self):
        with busy_on_the_first_cpu():
            output, report, _ = self.run_traced("/usr/bin/python3", "-S", "-c", PROGRAM)
        wall_s, cpu_s, _ = map(float, output.split())
        found = next(f for f in report["findings"] if f["rule"] == "collector_in_the_way")
        self.assertGreater(wall_s, 1.4 * cpu_s, "it had the CPU for itself")
        self.assertGreater(found["evidence"]["collector_s"], 0.8 * cpu_s)
        self.assertLess(found["evidence"]["collector_s"], 1.25 * cpu_s)


if __name__ == "__main__":
    unittest.main()
