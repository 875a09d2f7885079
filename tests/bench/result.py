# SPDX-License-Identifier: MIT
"""The one line that every benchmark program prints, from Python: see bench.h."""
import resource
import sys
import time


class Bench:
    def __init__(self):
        self.wall, self.process, self.children = time.perf_counter(), time.process_time(), self.children_s()

    @staticmethod
    def children_s():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def print(self, ops):
        wall = time.perf_counter() - self.wall
        process = time.process_time() - self.process + self.children_s() - self.children
        with open("/proc/self/status", encoding="ascii") as f:
            rss = next(line.split()[1] for line in f if line.startswith("VmHWM"))
        print(f"RESULT ops={ops} wall_ns={wall * 1e9:.0f} thread_ns={process * 1e9:.0f} process_ns={process * 1e9:.0f} "
              f"rss_kib={rss}", file=sys.stderr)
