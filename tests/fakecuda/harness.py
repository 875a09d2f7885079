# SPDX-License-Identifier: MIT
"""Runs programs on the doubles and reads back what the toy profiler recorded and what truly happened."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from clocks import slow_clock_ns  # noqa: E402

BUILD = os.environ.get("PROFTRACE_BUILD", os.path.join(HERE, "..", "..", "build"))
DOUBLES = os.path.join(BUILD, "fakecuda")
# CUDA major: (the program built for it, soname of its libcupti, versions of CUPTI that came with it)
ABIS = {11: ("workload_11", "libcupti.so.11.8", (13, 14, 15, 17, 18)),
        12: ("workload_12", "libcupti.so.12", (19, 20, 24, 26, 28)),
        13: ("workload_13", "libcupti.so.13", (130000, 130001))}
TIME_NS = 2000 + slow_clock_ns(4)  # how far a converted time may be off: reading two clocks is no instant


def read_lines(paths):
    """The JSON lines of all these files; a killed process leaves zero bytes behind the last one."""
    rows = []
    for path in sorted(paths):
        with open(path, "rb") as file:
            for line in file.read().rstrip(b"\0").decode("latin-1").splitlines():
                rows.append(json.loads(line))
    return rows


class Outcome:
    """What a run left: its result, the records of each process, and the truth."""

    def __init__(self, run, folder):
        self.run, self.folder = run, folder
        self.code, self.out, self.err = run.returncode, run.stdout, run.stderr
        self.records = read_lines(glob.glob(os.path.join(folder, "client.*.jsonl")))
        self.truth = read_lines(glob.glob(os.path.join(folder, "witness.*.jsonl")))

    def recorded(self, name):
        return [r for r in self.records if r["record"] == name]

    def true(self, what):
        return [r for r in self.truth if r["what"] == what]

    def result(self, of):
        return next(r["result"] for r in self.records if r["record"] == "result" and r["of"] == of)


class DoubleTest(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fakecuda-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.n_runs = 0

    def run_program(self, command, program="", client=True, timeout=200, **environment):
        """Runs a command on the doubles; `program` is the GPU program, the rest goes into the environment."""
        self.n_runs += 1
        folder = os.path.join(self.folder, str(self.n_runs))
        os.mkdir(folder)
        env = {key: value for key, value in os.environ.items() if not key.startswith(("FAKECUDA", "CLIENT", "CUDA", "LD_"))}
        env.update(LD_LIBRARY_PATH=os.path.join(DOUBLES, "lib"), FAKECUDA=program,
                   FAKECUDA_WITNESS=os.path.join(folder, "witness"), CLIENT_OUT=os.path.join(folder, "client"))
        if client:
            env["CUDA_INJECTION64_PATH"] = os.path.join(DOUBLES, "client.so")
        env.update(environment)
        return Outcome(subprocess.run(command, env=env, cwd=folder, timeout=timeout, text=True, errors="replace",
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE), folder)

    def workload(self, *arguments, program="", major=13, version=0, **more):
        """Runs a case of the workload with the toy profiler of that major version."""
        name, soname, _ = ABIS[major]
        more.setdefault("CLIENT_CUPTI", soname)
        words = program + (f";cupti_version {version}" if version else "")
        return self.run_program([os.path.join(DOUBLES, name), *map(str, arguments)], words, **more)

    def assert_ran(self, outcome):
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome

    def assert_times_true(self, pairs, tolerance_ns=TIME_NS):
        """Pairs of (record, truth): start and end lie where they truly were."""
        for record, truth in pairs:
            for key in ("start", "end"):
                self.assertLessEqual(abs(record[key] - truth[key + "_ns"]), tolerance_ns, (key, record, truth))


def main():
    """Runs the module's tests; 77 tells ctest that all were skipped."""
    result = unittest.main(module="__main__", verbosity=2, exit=False).result
    all_skipped = result.testsRun and len(result.skipped) >= result.testsRun
    sys.exit(0 if result.wasSuccessful() and not all_skipped else 77 if all_skipped else 1)
