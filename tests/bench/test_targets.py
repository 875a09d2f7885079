#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The table of promises is whole: each row can be measured, what was promised stands there, and a verdict fits the figure that is shown."""
import os
import re
import unittest

import table
from targets import TARGETS
from workloads import HERE, WORKLOADS

# What was promised to those who asked for it: by workload and unit. To change one is a decision, not a detail of a table.
PROMISED = {
    ("P1/0", "x CPU"): 1.02, ("P1/0", "x wall"): 1.02, ("P1", "x CPU"): 1.03, ("P1", "x wall"): 1.03, ("P15", "x wall"): 1.08,
    ("start", "ms added"): 0.25, ("start", "KiB per image"): 8, ("storm", "x CPU"): 1.3, ("storm", "KiB per image"): 8,
    ("unwinding", "% of its CPU time"): 0.5, ("mixed-10", "s"): 2, ("mixed-10-rss", "MiB"): 256,
}


class TargetsTest(unittest.TestCase):
    def test_what_was_promised(self):
        found = {(t.workload, t.unit): t.limit for t in TARGETS}
        self.assertEqual({key: found.get(key) for key in PROMISED}, PROMISED)

    def test_each_can_be_measured(self):
        workloads = {w.key: w.tracers for w in WORKLOADS}
        figures = ""
        for name in ("analysis", "launcher", "unwinding"):
            with open(os.path.join(HERE, f"{name}.py"), encoding="utf-8") as file:
                figures += file.read()
        for target in TARGETS:
            with self.subTest(target.what):
                if target.measure:
                    self.assertIn(target.tracer, workloads.get(target.workload, []))
                elif not re.match(r"profile-|mixed-", target.workload):  # one name for several
                    self.assertIn(f'"{target.workload}"', figures)

    def test_verdicts_are_of_what_is_shown(self):
        class Figure:
            def __init__(self, value):
                self.value = value
        for value, verdict in ((0.504, "met"), (0.51, "missed")):
            self.assertIn(f"{value:.2f} % of its CPU time | {'met' if verdict == 'met' else '**missed**'}",
                          table.verdicts({}, {"unwinding": Figure(value)}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
