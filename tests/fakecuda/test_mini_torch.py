#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The small torch trains, and says truly what kept the GPU waiting."""
import json
import os
import sys

from harness import BUILD, DOUBLES, HERE, DoubleTest, main

sys.path.insert(0, HERE)
from minitorch.causes import CAUSES  # noqa: E402


class MiniTorchTest(DoubleTest):
    def train(self, *arguments, **environment):
        outcome = self.run_program(["/usr/bin/python3", os.path.join(HERE, "mini_torch.py"), *arguments], client=False,
                                   PROFTRACE_BUILD=os.path.abspath(BUILD), **environment)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome, json.loads(outcome.out)

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

    def test_kernels(self):
        """The names, numbers and order of a training's operations."""
        outcome, _ = self.train("--steps", "3", "--layers", "2")
        names = [t["name"] for t in outcome.true("kernel")]
        self.assertEqual(len(names), 3 * (2 * 2 + 2 + 2 * 2 + 1))
        self.assertEqual(names[0], "ampere_sgemm_128x64_tn")
        self.assertEqual(len(outcome.true("set")), 6)

    def test_launching_ahead(self):
        """Without reading the loss each step nobody waits for the GPU before the end."""
        ahead, _ = self.train("--steps", "10", "--async-loss")
        behind, _ = self.train("--steps", "10")
        self.assertLessEqual(len(ahead.true("wait")), 3)
        self.assertGreaterEqual(len(behind.true("wait")), 10)

    def test_exits(self):
        for how, code in (("sys.exit", 0), ("os._exit", 0), ("exception", 1), ("SIGTERM", -15)):
            with self.subTest(exit=how):
                outcome = self.run_program(["/usr/bin/python3", os.path.join(HERE, "mini_torch.py"), "--steps", "2", "--exit",
                                            how], client=False, PROFTRACE_BUILD=os.path.abspath(BUILD))
                self.assertEqual(outcome.code, code)
                self.assertEqual(len(outcome.true("kernel")), 2 * 15)

    def test_ranges(self):
        """Where NVTX_INJECTION64_PATH is set, each part of a step is a range within the step's."""
        outcome, _ = self.train("--steps", "2", NVTX_INJECTION64_PATH=os.path.join(DOUBLES, "client.so"))
        self.assertEqual([(r["text"], r["depth"]) for r in outcome.recorded("range")],
                         [pair for i in range(2) for pair in
                          [(f"ProfilerStep#{i}", 0)] + [(t, 1) for t in ("copy", "forward", "backward", "optimizer", "loss.item")]])

    def test_collectives(self):
        outcome, _ = self.train("--steps", "2", "--allreduce", "3")
        self.assertEqual(len([t for t in outcome.true("kernel") if t["name"].startswith("ncclDevKernel_AllReduce")]), 6)

    def test_with_client(self):
        """All that it does is recorded."""
        outcome = self.run_program(["/usr/bin/python3", os.path.join(HERE, "mini_torch.py"), "--steps", "3", "--threads", "3",
                                    "--workers", "1"], PROFTRACE_BUILD=os.path.abspath(BUILD))
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(len(outcome.recorded("kernel")), len(outcome.true("kernel")))
        self.assertEqual(len({k["streamId"] for k in outcome.recorded("kernel")}), 3)


if __name__ == "__main__":
    main()
