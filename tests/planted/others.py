# SPDX-License-Identifier: MIT
"""How busy the machine is without us, and how to make it so."""
import contextlib
import os
import resource
import subprocess
import time


class Others:
    """What computes on this machine and was not started from here, in percent of it."""

    @staticmethod
    def now():
        with open("/proc/stat", encoding="ascii") as file:
            ticks = [int(n) for n in file.readline().split()[1:9]]
        own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        busy_s = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
        return busy_s - sum(u.ru_utime + u.ru_stime for u in own), time.monotonic()

    def __enter__(self):
        self.before = self.now()
        return self

    def __exit__(self, *_):
        busy_s, s = (now - before for now, before in zip(self.now(), self.before))
        self.percent = 100 * busy_s / s / os.sysconf("SC_NPROCESSORS_ONLN")


@contextlib.contextmanager
def busy_loops(n):
    """Other programs that compute meanwhile."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
