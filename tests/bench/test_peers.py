#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A tracer under which the program dies has a row that says so, and the others are measured."""
import os
import shutil
import sys
import tempfile
import unittest

import measure
import table
from tracers import Tracer
from workloads import Places, Workload

RESULT = "RESULT ops=10 wall_ns=1000 thread_ns=900 process_ns=900 rss_kib=2048"


def shell(script):
    """A peer that runs a script in place of the program, or around it."""
    return ["/bin/sh", "-c", script, "sh"]


class PeersTest(unittest.TestCase):
    def setUp(self):
        base = tempfile.mkdtemp(prefix="proftrace-bench-test-")
        self.addCleanup(shutil.rmtree, base, ignore_errors=True)
        self.places = Places(base, f"{base}/data", f"{base}/memory", f"{base}/traces")
        os.makedirs(self.places.data)
        self.count = f"{base}/count"

    def measured(self, *peers):
        tracers = {t.key: t for t in [Tracer("bare", "untraced"), Tracer("sampled", "ours"), *peers]}
        workload = Workload("W", "a fake", "call", lambda p, n: ["/bin/sh", "-c", f"echo {RESULT} >&2"], 10, 1, list(tracers))
        self.lines = []
        series = measure.interleaved(workload, tracers, 3, self.places, True, self.lines.append)
        return table.workload_table(workload, series).split("\n"), series

    def row(self, lines, title):
        return next(line for line in lines if line.startswith(f"| {title} |"))

    def test_a_peer_that_crashes(self):
        crashes = Tracer("lttng", "crashes", prefix=shell("kill -SEGV $$"))
        lines, series = self.measured(crashes, Tracer("works", "works", prefix=shell('exec "$@"')))
        self.assertIn("| the program died of signal 11 (SIGSEGV), round 0 |", self.row(lines, "crashes"))
        self.assertEqual({len(line.split("|")) for line in lines if line.startswith("|")}, {10})
        self.assertIn("1.00 [1.00..1.00]", self.row(lines, "works"))
        self.assertEqual([len(series[key].samples) for key in ("bare", "sampled", "works")], [3, 3, 3])
        self.assertEqual(sum("left out" in line for line in self.lines), 1)

    def test_a_peer_that_crashes_in_a_later_round(self):
        script = f'echo x >> {self.count}; [ $(wc -l < {self.count}) -lt 3 ] || exit 139; exec "$@"'
        lines, series = self.measured(Tracer("late", "late", prefix=shell(script)))
        self.assertIn("died of signal 11 (SIGSEGV), round 2", self.row(lines, "late"))
        self.assertEqual(len(series["sampled"].samples), 3)

    def test_other_endings(self):
        lines, _ = self.measured(Tracer("one", "one", prefix=shell("exit 1")), Tracer("none", "none", prefix=shell("exit 0")))
        self.assertIn("ended with status 1", self.row(lines, "one"))
        self.assertIn("ended without a result", self.row(lines, "none"))

    def test_we_may_not_fail(self):
        with self.assertRaisesRegex(RuntimeError, "W under full died of signal 6"):
            self.measured(Tracer("full", "ours, full", prefix=shell("kill -ABRT $$")))


if __name__ == "__main__":
    sys.exit(unittest.main())
