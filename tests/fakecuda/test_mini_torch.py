#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The small torch trains as a torch does, however it ends."""
import os

from harness import BUILD, DOUBLES, HERE, main
from mini_torch_case import MiniTorchCase


class MiniTorchTest(MiniTorchCase):
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
        self.assertEqual(len([t for t in outcome.true("kernel") if "ncclDevKernel_AllReduce" in t["name"]]), 6)

    def test_with_client(self):
        """All that it does is recorded."""
        outcome = self.run_program(["/usr/bin/python3", os.path.join(HERE, "mini_torch.py"), "--steps", "3", "--threads", "3",
                                    "--workers", "1"], PROFTRACE_BUILD=os.path.abspath(BUILD))
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(len(outcome.recorded("kernel")), len(outcome.true("kernel")))
        self.assertEqual(len({k["streamId"] for k in outcome.recorded("kernel")}), 3)


if __name__ == "__main__":
    main()
