#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""All ways in which a process ends: what CUPTI had delivered is in the trace, and the trace says whether that was all."""
import glob
import pathlib
import random
import signal
import time

from cupti_case import CUPTI, CUT, DOUBLES, ENDED, CuptiCase, Outcome, main, recorded_kernels, true_kernels

PROGRAM = f"{DOUBLES}/cupti_program"
OLDER = ("_11", "_12")  # the same program for CUDA 11 and 12


class EndTest(CuptiCase):
    def end(self, case, code, *arguments, program="", suffix="", **environment):
        outcome = self.run_program([PROGRAM + suffix, case, *map(str, arguments)], program, **environment)
        self.assertEqual(outcome.code, code, outcome.err)
        return outcome

    def test_orderly(self):
        """return, exit, exit from another thread: everything is delivered, and the trace says so."""
        for case, code, suffix in (("return", 0, ""), ("exit", 3, ""), ("exit_in_thread", 4, ""), *((c, n, s) for s in OLDER for c, n in
                                                                                                (("return", 0), ("exit_in_thread", 4)))):
            with self.subTest(case, suffix=suffix):
                outcome = self.end(case, code, suffix=suffix)
                self.assertEqual(outcome.states(), [CUPTI, ENDED])
                self.assertEqual(len(true_kernels(outcome)), 20)
                self.assert_operations(outcome)

    def test_sudden(self):
        """_exit, abort, SIGTERM: no call of CUPTI's may be made there. No record is invented, and no sentence says "all"."""
        for case, code, suffix in (("_exit", 5, ""), ("abort", -signal.SIGABRT, ""), ("sigterm", -signal.SIGTERM, ""),
                                   *(("_exit", 5, suffix) for suffix in OLDER)):
            with self.subTest(case, suffix=suffix):
                outcome = self.end(case, code, suffix=suffix)
                self.assertEqual(outcome.states(), [CUPTI])
                self.assertLessEqual(set(recorded_kernels(outcome)), set(true_kernels(outcome)))

    def test_exit_codes_are_the_programs(self):
        for case in ("return", "exit", "_exit", "abort", "sigterm"):
            without = self.run_program([PROGRAM, case], LD_PRELOAD="", CUDA_INJECTION64_PATH="")
            traced = self.run_program([PROGRAM, case])
            self.assertEqual((traced.code, traced.out, traced.err), (without.code, without.out, without.err))

    def test_delivered_where_the_program_waits(self):
        """A process that waits for the GPU now and then and ends without a word loses the last second at most."""
        outcome = self.end("slowly", 0)
        self.assertEqual(outcome.states(), [CUPTI])
        names = [row[3] for row in recorded_kernels(outcome)]
        self.assertGreaterEqual(names.count("before"), 60)

    def test_driver_ends_first(self):
        """CUPTI refuses the last flush: the trace does not claim that it has everything."""
        outcome = self.workload("basic", 10, program="fault late_atexit")
        self.assertEqual(outcome.states(), [CUPTI, CUT])
        self.assertIn("could not deliver", outcome.of("gpu_tracing")[-1]["reason"])

    def test_slow_flush(self):
        outcome = self.end("return", 0, program="fault slow_flush 300")
        self.assert_operations(outcome)

    def test_killed_at_any_moment(self):
        """SIGKILL: what is in the trace is true, nothing is there twice, and what the library has taken is there."""
        dice = random.Random(5)
        for _ in range(8):
            delay = dice.uniform(0.02, 1.6)
            child, folder = self.start([PROGRAM, "forever", "10"], f"worker {dice.randint(0, 1)};kernel_ns 100000")
            time.sleep(delay)
            child.kill()
            out, err = child.communicate(timeout=60)
            outcome = Outcome(child.returncode, out, err, folder)
            self.assertEqual(outcome.code, -signal.SIGKILL, err)
            if not self.has_begun(folder):
                continue
            recorded, true = recorded_kernels(outcome), true_kernels(outcome)
            self.assertEqual(len(recorded), len(set(recorded)), "twice")
            self.assertLessEqual(set(recorded), set(true))
            self.assertNotIn(ENDED, outcome.states())
            self.assertGreaterEqual(len(recorded), sum(t["kernels"] for t in outcome.true("taken")))

    @staticmethod
    def has_begun(folder):
        """A process that is killed as it starts leaves no trace, or a file without a head."""
        heads = [pathlib.Path(path).read_bytes()[:8] for path in glob.glob(f"{folder}/trace/latest/*.ptr")]
        small = [pathlib.Path(path).read_bytes() for path in glob.glob(f"{folder}/trace/latest/*.pts")]
        return any(head.strip(b"\0") for head in heads) or any(b"PROFTRC\n" in content for content in small)


class ForkTest(CuptiCase):
    def test_workers(self):
        """Children of a process that uses CUDA, as DataLoader's workers are: they neither hang nor write, however they end."""
        for suffix in ("", *OLDER):
            with self.subTest(suffix=suffix):
                outcome = self.run_program([PROGRAM + suffix, "fork_workers"], "fork_hang_ms 100", timeout=120)
                self.assertEqual((outcome.code, outcome.err), (0, ""))
                self.assertEqual(outcome.states(), [CUPTI, ENDED])
                self.assertEqual(len(true_kernels(outcome)), 60)
                self.assert_operations(outcome)
                self.assertEqual(len({e["pid"] for e in outcome.of("gpu_kernel")}), 1)


if __name__ == "__main__":
    main()
