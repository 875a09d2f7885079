# SPDX-License-Identifier: MIT
"""What the tests of the time account share: run a command under proftrace and look at its stage."""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import machine  # noqa: E402,F401
from stolen import stolen_s  # noqa: E402,F401
from thrice import thrice  # noqa: E402,F401

BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build"))
PROFTRACE = os.path.join(BUILD, "proftrace")
TOLERANCE = 0.02
PART = {"sleep": "sleep_s", "lock": "lock_s", "cond": "lock_s", "join": "lock_s", "pipe": "data_wait_s", "reader": "data_wait_s",
        "child": "child_wait_s", "server": "network_s", "file": "file_read_s", "compute": "native_s", "python": "python_s"}


class Took:
    """What a thread says of a part of its time, in seconds: by its own clock, and how long it queued for a CPU meanwhile."""
    def __init__(self):
        self.seconds = self.queued = 0.0


def take(output):
    """{tid: {part: Took}} of lines "tid part ns queued"."""
    told = collections.defaultdict(lambda: collections.defaultdict(Took))
    for line in output.splitlines():
        tid, part, ns, queued = line.split()
        one = told[int(tid)][PART[part.split(":")[0]]]
        one.seconds += int(ns) / 1e9
        one.queued += int(queued) / 1e9
    return told


class AccountCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="account-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def found(self, report):
        """The rules of all findings but that on the machine: what else runs on it is not the program's doing."""
        return [finding["rule"] for finding in report["findings"] if finding["rule"] not in ("noisy_neighbour", "stolen_cpus")]

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
        self.check_sum(stage["time"], stage["time"]["wall_s"])
        for row in stage["threads"]:
            self.check_sum(row, row["lives_s"])
        for row in stage.get("waits", []):
            self.check_sum(row, row["total_s"])
        return done.stdout, report, stage

    def check_sum(self, account, whole):
        """Python and native are what computing was, where that is known."""
        of_computing = [account["python_s"], account["native_s"]]
        if None not in of_computing:
            self.assertAlmostEqual(sum(of_computing), account["computing_s"], delta=1e-8, msg=f"{account}")
        wholes = ("wall_s", "lived_s", "lives_s", "total_s", "python_s", "native_s")
        parts = sum(value or 0 for key, value in account.items() if key.endswith("_s") and key not in wholes)
        self.assertAlmostEqual(parts, whole, delta=1e-6 + 1e-9 * whole, msg=f"the parts do not add up: {account}")

    def check_parts(self, account, told, wall, whose, more=None):
        """Each part that a thread tells of is known, and within 2 % of the wall time of what it says."""
        for key, took in told.items():
            message = f"{key} of {whose}: {account}, said: {took.seconds} s, queued {took.queued} s"
            self.assertIsNotNone(account[key], message)
            # Computing was measured by the CPU time that it got.
            queued = 0 if key in ("native_s", "python_s") else took.queued
            self.assertGreaterEqual(account[key], took.seconds - queued - TOLERANCE * wall, message)
            self.assertLessEqual(account[key], took.seconds + TOLERANCE * wall + (more or {}).get(key, 0), message)

    def assert_within(self, value, low, high, wall, what):
        """Between two witnesses, give or take 2 % of the wall time: where they are the same, that is equality."""
        self.assertIsNotNone(value, what)
        self.assertGreaterEqual(value, low - TOLERANCE * wall, what)
        self.assertLessEqual(value, high + TOLERANCE * wall, what)
