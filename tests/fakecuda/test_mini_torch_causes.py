#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The small torch says truly what kept the GPU waiting, and for how long."""
import sys

from harness import HERE, main
from mini_torch_case import MiniTorchCase

sys.path.insert(0, HERE)
from minitorch.causes import CAUSES  # noqa: E402


class MiniTorchCauses(MiniTorchCase):
    def test_each_cause(self):
        """Alone, each explains the time in which no kernel ran, but for what a busy machine adds."""
        for cause in CAUSES:
            with self.subTest(cause=cause):
                _, report = self.train("--steps", "5", "--cause", f"{cause}=15")
                self.assertGreater(report["planted_ns"][cause], 5 * 8e6)
                idle = report["idle_of_kernels"]
                self.assertLessEqual(idle["by_cause_ns"][cause], report["planted_ns"][cause])
                self.assertGreater(idle["by_cause_ns"][cause], 0.4 * (idle["idle_ns"] - report["waited_for_cpu_ns"]))

    def test_mixed(self):
        _, report = self.train("--steps", "6", "--cause", "sleep=10", "--cause", "python=6:2", "--cause", "lock=4:3")
        by_cause = report["idle_of_all"]["by_cause_ns"]
        self.assertEqual(set(by_cause), {"sleep", "python", "lock"})
        self.assertGreater(by_cause["sleep"], by_cause["python"])

    def test_workers(self):
        """Forked and spawned, before and after CUDA was initialised; the trainer waits for their causes."""
        for start, more in (("fork", ()), ("fork", ("--workers-first",)), ("spawn", ())):
            with self.subTest(start=start, more=more):
                outcome, report = self.train("--steps", "6", "--workers", "2", "--start", start, "--worker-cause",
                                             "sleep=30", *more)
                self.assertEqual(len(set(report["worker_pids"])), 2)
                self.assertGreater(report["planted_ns"]["worker_sleep"], 40e6)
                idle_ns = report["idle_of_all"]["by_cause_ns"]["worker_sleep"]  # while a trainer waits for a CPU, workers get ahead
                self.assertGreater(idle_ns, 30e6 - report["waited_for_cpu_ns"])
                self.assertEqual({t["pid"] for t in outcome.true("process")}, {report["pid"]})


if __name__ == "__main__":
    main()
