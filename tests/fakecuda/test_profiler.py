#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A program that profiles itself: what it sees alone, and what two clients of one CUPTI do to each other."""
import json
import os

from harness import DOUBLES, DoubleTest, main


class ProfilerTest(DoubleTest):
    def profile(self, *arguments, **more):
        outcome = self.assert_ran(self.run_program([os.path.join(DOUBLES, "profiler_13"), *map(str, arguments)], **more))
        return outcome, json.loads(outcome.out)

    def test_alone(self):
        for mode in ("subscribe", "direct", "dlsym"):
            with self.subTest(mode=mode):
                _, seen = self.profile(mode, 3, client=False)
                self.assertEqual(seen, {"kernels": 30, "calls": 33, "bad_times": 0, "refused": 0})

    def test_second_subscriber(self):
        """The one who comes later is refused."""
        outcome, seen = self.profile("subscribe")
        self.assertEqual((seen["refused"], seen["kernels"]), (39, 0))
        self.assertEqual(len(outcome.recorded("kernel")), 18 - 10)

    def test_hijack(self):
        """Without a subscription nothing protects the first client: its buffers (with what is in them), clock and kinds are taken away."""
        outcome, seen = self.profile("direct")
        self.assertEqual(seen["kernels"], 15)
        self.assertEqual(len(outcome.true("kernel")), 18)
        self.assertLess(len(outcome.recorded("kernel")), 18)


if __name__ == "__main__":
    main()
