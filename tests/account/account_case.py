# SPDX-License-Identifier: MIT
"""What the tests of the time account share: run a command under proftrace and look at its stage."""
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build"))
PROFTRACE = os.path.join(BUILD, "proftrace")
TOLERANCE = 0.02


def thrice(check):
    """Witnesses and samples leave chance, and other load of the machine comes between them: what does not hold is measured twice more."""
    @functools.wraps(check)
    def repeated(self, *arguments, **named):
        for _ in range(2):
            try:
                return check(self, *arguments, **named)
            except (AssertionError, KeyError, StopIteration) as why:
                print(f"{check.__qualname__}: once more: {str(why)[:300]}", file=sys.stderr)
        return check(self, *arguments, **named)
    return repeated


class AccountCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="account-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_traced(self, *command, options=(), **environment):
        """What the program printed, the report, and its stage."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PROFTRACE_") and k != "LD_PRELOAD"}
        clean.update(environment, PROFTRACE_DIR=os.path.join(self.folder, "runs"))
        done = subprocess.run([PROFTRACE, "run", "--stage", "planted", *options, "--", *command], env=clean, cwd=self.folder,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.folder, "runs/latest/report.json"), encoding="utf-8") as file:
            report = json.load(file)
        stage = next(stage for stage in report["stages"] if stage["stage"] == "planted")
        self.check_sum(stage["time"])
        return done.stdout, report, stage

    def check_sum(self, time):
        parts = sum(value or 0 for key, value in time.items() if key.endswith("_s") and key != "wall_s")
        self.assertAlmostEqual(parts, time["wall_s"], delta=1e-6 + 1e-9 * time["wall_s"], msg=f"the parts do not add up: {time}")

    def assert_within(self, value, low, high, wall, what):
        """Between two witnesses, give or take 2 % of the wall time: where they are the same, that is equality."""
        self.assertIsNotNone(value, what)
        self.assertGreaterEqual(value, low - TOLERANCE * wall, what)
        self.assertLessEqual(value, high + TOLERANCE * wall, what)
