# SPDX-License-Identifier: MIT
"""How long a stage took lies between what it says itself and what was seen just outside of it."""
import os
import time
import unittest

from pipeline_case import NAMES, PipelineCase, plain, python, seven

STAMPS = """
import time
begin = time.monotonic_ns()
end = begin + {ns}
while time.monotonic_ns() < end: time.sleep(0.01)
print(begin, time.monotonic_ns())
"""
MARGIN_NS = 1000000  # the report has whole microseconds at best; a stamp costs less


class Durations(PipelineCase):
    def test_each_stage_lies_between_its_own_stamps_and_those_around_it(self):
        """Inside: the program's first and last line. Outside: the end of the stage before and the start of the one after."""
        lengths = dict(zip(NAMES, (50, 300, 20, 700, 10, 400, 30)))
        stages = seven(**{name: python(STAMPS.format(ns=ms * 1000000)) for name, ms in lengths.items()})
        before = time.monotonic_ns()
        outcome = self.pipeline(stages)
        after = time.monotonic_ns()
        self.assertEqual(outcome.code, 0, outcome)
        report = self.assert_stages({name: "ok" for name in NAMES})
        inside = [tuple(map(int, line.split())) for line in outcome.stdout.decode().splitlines()]
        for i, name in enumerate(NAMES):
            took_ns = self.stage(name)["duration_s"] * 1e9
            begin, end = inside[i]
            outer_begin = inside[i - 1][1] if i else before
            outer_end = inside[i + 1][0] if i + 1 < len(NAMES) else after
            self.assertGreaterEqual(took_ns, end - begin, name)
            self.assertLessEqual(took_ns, outer_end - outer_begin + MARGIN_NS, name)
        self.assertLessEqual(report["total_duration_s"] * 1e9, after - before)

    def test_cpu_time_is_that_of_wait4(self):
        """Within 2 % of what the kernel told the launcher's wait4, read from the launcher itself once it has ended (WNOWAIT)."""
        burn = "import time\nt = time.process_time()\nwhile time.process_time() - t < {}: pass"
        child = f"import subprocess; subprocess.run(['/usr/bin/python3', '-S', '-c', {burn.format(0.7)!r}])\n"
        process = self.start([{"stage": "a", **python(child + burn.format(1))}])
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with open(f"/proc/{process.pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        self.assertEqual(process.wait(), 0)
        waited_for_s = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")  # cutime, cstime
        self.assertGreater(waited_for_s, 1.6)
        self.assertAlmostEqual(self.stage("a")["cpu_s"], waited_for_s, delta=0.02 * waited_for_s)

    def test_a_stage_that_was_skipped_took_no_time(self):
        outcome = self.pipeline(seven(build={"skip": "requires GUI"}, train=plain("train")))
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIsNone(self.stage("build")["duration_s"])


if __name__ == "__main__":
    unittest.main()
