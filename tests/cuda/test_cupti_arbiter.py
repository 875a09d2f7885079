#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A program that profiles itself with CUPTI, as torch.profiler does, gets what it would get without us; the trace says when it
had CUPTI, and goes on afterwards."""
import collections

from cupti_case import CUPTI, DOUBLES, ENDED, WRAPPED, YIELDED, CuptiCase, main, recorded_kernels, true_kernels

PROGRAM = f"{DOUBLES}/cupti_program"
N = 20


class ArbiterTest(CuptiCase):
    def profile(self, case, program="", suffix="", **environment):
        outcome = self.run_program([PROGRAM + suffix, case], program, **environment)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome

    def names(self, outcome):
        return collections.Counter(row[3] for row in recorded_kernels(outcome))

    def test_as_without_us(self):
        for case in ("profiler_subscribes", "profiler_registers", "profiler_stays", "profiler_of_defaults"):
            with self.subTest(case):
                without = self.profile(case, LD_PRELOAD="", CUDA_INJECTION64_PATH="")
                self.assertEqual(without.out, f"{N} 0 own clock\n" * 2)
                self.assertEqual(self.profile(case).out, without.out)

    def test_yields_and_returns(self):
        """Two windows of a profiler: ours has the kernels before, between and after, and says which windows it has not."""
        for case, suffix in (("profiler_subscribes", ""), ("profiler_registers", ""), ("profiler_stays", ""), ("profiler_of_defaults", ""),
                             ("profiler_subscribes", "_12"), ("profiler_subscribes", "_11"), ("profiler_registers", "_11")):
            with self.subTest(case, suffix=suffix):
                outcome = self.profile(case, suffix=suffix)
                self.assertEqual(outcome.states(), [CUPTI, YIELDED, CUPTI, YIELDED, CUPTI, ENDED])
                self.assertEqual(self.names(outcome), {"before": N, "after": 2 * N})
                self.assertEqual(outcome.lost(), {})
                self.assert_times(outcome)

    def test_settings_made_before(self):
        """What the program says of its records before it enables any holds once it does, and in its next window."""
        without = self.profile("profiler_sets_first", LD_PRELOAD="", CUDA_INJECTION64_PATH="")
        self.assertEqual(without.out, "100 ms, not all\n" * 2)
        outcome = self.profile("profiler_sets_first")
        self.assertEqual(outcome.out, without.out)
        self.assertEqual(outcome.states(), [CUPTI, YIELDED, CUPTI, YIELDED, CUPTI, ENDED])
        self.assertEqual(self.names(outcome), {"before": N, "after": 2 * N})

    def test_registering_again_corrupts(self):
        """CUPTI gives the record after a second registration of a clock times of another one: counted, not drawn."""
        outcome = self.profile("profiler_subscribes", "fault reregister")
        names = self.names(outcome)
        self.assertEqual(names["before"] + names["after"] + sum(outcome.lost().values()), 3 * N)
        self.assert_times(outcome)

    def test_finalize(self):
        """CUPTI forgets us, too: it is taken back where the program waits next."""
        outcome = self.profile("profiler_finalizes")
        self.assertEqual(outcome.out, f"{N} 0 own clock\nfinalize 0\n")
        self.assertEqual(outcome.states(), [CUPTI, YIELDED, CUPTI, YIELDED, CUPTI, ENDED])
        self.assertEqual(self.names(outcome), {"before": N, "after": N})
        self.assert_times(outcome)

    def test_of_two_threads(self):
        """It takes long to let CUPTI go, as on a busy machine: the program's next thread waits, and is not told that it is taken."""
        outcome = self.profile("profiler_of_two_threads", "fault slow_flush 100")
        self.assertEqual(outcome.out, f"subscribe 0\n{N} 0\n")
        self.assertEqual(outcome.states(), [CUPTI, YIELDED, CUPTI, ENDED])
        self.assertEqual(self.names(outcome), {"before": N, "after": N})

    def test_amid_start(self):
        """CUDA comes up in one thread, and CUPTI with it for us, when another begins to profile."""
        outcome = self.profile("profiler_amid_start", "fault slow_version 400")
        own, foreign, _ = outcome.out.split(" ", 2)
        names = self.names(outcome)
        self.assertEqual(outcome.states(), [YIELDED, CUPTI, ENDED])
        self.assertEqual((int(own), names["during"], names["after"]), (N, 0, N))
        self.assertLessEqual(int(foreign) + names["before"], N)  # the other thread launches in the window, or behind it

    def test_amid_threads(self):
        outcome = self.profile("profiler_amid_threads", "kernel_ns 1000")
        self.assertEqual(outcome.out, f"{10 * N}\n")
        states = outcome.states()
        self.assertEqual((states[0], states[-1], states.count(YIELDED)), (CUPTI, ENDED, N))
        # one that is launched just while calls are no longer recorded has no number: 0 is unknown
        recorded, true = [row for row in recorded_kernels(outcome) if row[1]], set(true_kernels(outcome))
        self.assertEqual(len(recorded), len(set(recorded)))
        self.assertLessEqual(set(recorded), true)
        self.assertGreater(self.names(outcome)["before"], 100)

    def test_own(self):
        """By PROFTRACE_CUPTI=own the program's profiler is told that CUPTI is taken, and we have everything."""
        for case in ("profiler_subscribes", "profiler_registers"):
            with self.subTest(case):
                outcome = self.profile(case, PROFTRACE_CUPTI="own")
                self.assertEqual(outcome.out, "refused 39\n" * 2)
                self.assertEqual(outcome.states(), [CUPTI, ENDED])
                self.assertEqual(self.names(outcome), {"before": N, "after": 2 * N})

    def test_program_is_first(self):
        outcome = self.profile("profiler_first")
        self.assertEqual(outcome.out, "subscribe 0\n")
        self.assertEqual(outcome.states(), [YIELDED])

    def test_another_tool_is_first(self):
        """The program is refused, too, and is not blamed for it."""
        outcome = self.profile("profiler_first", "fault subscribe39")
        self.assertEqual((outcome.out, outcome.states()), ("subscribe 39\n", [WRAPPED]))
        self.assertIn("another tool has CUPTI", outcome.of("gpu_tracing")[0]["reason"])

    def test_until_exit(self):
        """Its exit handler, which runs behind ours, is not the time to begin."""
        without = self.profile("profiler_until_exit", LD_PRELOAD="", CUDA_INJECTION64_PATH="")
        outcome = self.profile("profiler_until_exit")
        self.assertEqual((outcome.out, outcome.states()), (without.out, [YIELDED]))

    def test_flushes_twice(self):
        """What a first flush leaves out, because it still runs, comes with the last."""
        program = "kernel_ns 10000000"
        without = self.profile("profiler_flushes_twice", program, LD_PRELOAD="", CUDA_INJECTION64_PATH="")
        self.assertEqual(without.out, f"{N} 0\n")
        outcome = self.profile("profiler_flushes_twice", program)
        self.assertEqual(outcome.out, without.out)
        self.assertEqual(outcome.states(), [CUPTI, YIELDED, CUPTI, ENDED])

    def test_never_flushes(self):
        outcome = self.profile("profiler_never_flushes")
        self.assertEqual(outcome.out, f"0 0\n{N} 0\n")
        self.assertEqual(outcome.states(), [CUPTI, YIELDED, CUPTI, ENDED])
        self.assertEqual(self.names(outcome), {"before": N, "after": N})

    def test_first_window_brings_cuda_up(self):
        """The first call of CUDA lies in a window of the program's profiler: behind it the GPU is seen."""
        outcome = self.profile("profiler_first_window")
        self.assertEqual(outcome.out, f"{N} 0 own clock\n")
        self.assertEqual(outcome.states(), [YIELDED, CUPTI, ENDED])
        self.assertEqual(self.names(outcome), {"after": N})
        self.assert_times(outcome)

    def test_cupti_fails_halfway(self):
        """What the program said before CUDA was up holds where CUPTI then refuses to record for us."""
        for program in ("", "error cuptiActivityEnable 2 3 1"):
            with self.subTest(program):
                outcome = self.profile("profiler_sets_before_cuda", program)
                self.assertEqual(outcome.out, f"{N} 0\n")
                self.assertEqual(outcome.states()[0], WRAPPED if program else CUPTI)

    def test_off(self):
        outcome = self.profile("profiler_subscribes", PROFTRACE_CUPTI="off")
        self.assertEqual(outcome.out, f"{N} 0 own clock\n" * 2)
        self.assertEqual(outcome.states(), [WRAPPED])


if __name__ == "__main__":
    main()
