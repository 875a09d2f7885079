#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""GPU times on the tracer's clock: right under skew, drift and coarse ticks; times of a foreign clock are told from them."""
from cupti_case import OFF_NS, CuptiCase, main

FOREIGN = "their times are of another clock, or from before the recording"
SECOND = 10**9


class TimeTest(CuptiCase):
    def test_skew_and_drift(self):
        """As right as CUPTI's conversion is, by two points; where the clock has ticks, no finer than those."""
        drift = (("slow", "clock_skew_ns -3000000000;clock_drift_ppm -200", 0), ("fast", "clock_drift_ppm 300", 0))
        others = (("as it is", "", 0), ("skew", "clock_skew_ns 5000000000", 0), ("ticks", "clock_tick_ns 1024", 1024))
        for major, programs in ((13, others + drift), (12, drift), (11, drift)):
            for name, program, more_ns in programs:
                with self.subTest(name, major=major):
                    outcome = self.workload("threads", 200, major=major, program=program)
                    self.assert_operations(outcome)
                    self.assert_times(outcome, OFF_NS + more_ns)
                    self.assertEqual(outcome.lost(), {})

    def test_foreign_clock(self):
        """Times that cannot be from this run are counted, not drawn: an hour off, as after another tool has set its own clock."""
        outcome = self.workload("basic", 5, program=f"clock_error_ns {3600 * SECOND * 3}")
        operations = len(outcome.true("kernel", "copy", "set"))
        self.assertEqual(outcome.of("gpu_kernel"), [])
        self.assertEqual(outcome.lost()[FOREIGN], operations)

    def test_clock_pairs(self):
        outcome = self.workload("basic", 5)
        pairs = outcome.of("gpu_clock")
        self.assertGreaterEqual(len(pairs), 2, "one when it begins, one when it ends")
        self.assertTrue(all(p["cupti_ns"] and p["realtime_ns"] > 1.6e18 for p in pairs))


if __name__ == "__main__":
    main()
