# SPDX-License-Identifier: MIT
"""Runs programs on the doubles of CUDA under the library and compares the trace with what the doubles truly did."""
import collections
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from clocks import slow_clock_ns  # noqa: E402

BUILD = os.environ.get("PROFTRACE_BUILD", os.path.join(HERE, "..", "..", "build"))
DOUBLES = os.path.join(BUILD, "fakecuda")
LIBRARY = os.path.join(BUILD, "libproftrace.so")
# CUDA major: versions of CUPTI that came with it; 0 is the one that the double plays when nothing is said
VERSIONS = {11: (0, 13, 14, 15, 17), 12: (0, 19, 20, 24, 28), 13: (0, 130000)}
OFF, CUPTI, WRAPPED, YIELDED, ENDED, CUT = range(6)
QUIET = {"cudaGetDevice", "cudaSetDevice", "cudaGetLastError", "cudaPeekAtLastError", "cudaGetDeviceCount", "cudaEventCreate",
         "cudaEventDestroy", "cudaEventQuery", "cudaStreamQuery", "cudaEventElapsedTime", "cudaStreamIsCapturing"}
OFF_NS = 2000 + slow_clock_ns(4)  # how far apart recorded and true times may be: what CUPTI's conversion promises; a kernel lasts 5 us


def truth_of(path):
    """Lines of a witness; a killed process leaves its last one half written, and zero bytes behind it."""
    with open(path, "rb") as file:
        lines = file.read().rstrip(b"\0").decode("latin-1").split("\n")
    for number, line in enumerate(lines):
        try:
            yield json.loads(line)
        except ValueError:
            if number + 1 < len(lines):
                raise


class Outcome:
    """What a run left: its result, the events of all its processes, and the truth by process."""

    def __init__(self, code, out, err, folder):
        self.code, self.out, self.err, self.folder = code, out, err, folder
        self.truth = []
        for path in glob.glob(f"{folder}/witness.*.jsonl"):
            pid = int(path.split(".")[-2])
            self.truth += [{**row, "pid": pid} for row in truth_of(path)]
        self._events = None

    @property
    def events(self):
        if self._events is None:
            dump = subprocess.run([f"{BUILD}/proftrace", "dump", "--json", f"{self.folder}/trace/latest"], check=True,
                                  capture_output=True, text=True, errors="replace", timeout=120).stdout
            self._events = [json.loads(line) for line in dump.splitlines()]
        return self._events

    def of(self, kind):
        return [e for e in self.events if e["event"] == kind]

    def true(self, *what):
        return [t for t in self.truth if t["what"] in what]

    def lost(self):
        """Records that the trace says are missing, by reason."""
        total = collections.Counter()
        for event in self.of("gpu_lost"):
            total[event["reason"]] += event["records"]
        return total

    def processes(self):
        info = subprocess.run([f"{BUILD}/proftrace", "info", "--json", f"{self.folder}/trace/latest"], check=True, capture_output=True)
        return json.loads(info.stdout)["processes"]

    def states(self):
        return [e["state"] for e in self.of("gpu_tracing")]


def queue(truth):
    return f"{truth['device']}/{truth['context']}/{truth['stream']}"


def true_kernels(outcome, in_graphs=True):
    return sorted((t["pid"], t["correlation"], queue(t), t["name"], tuple(t["grid"]), tuple(t["block"]))
                  for t in outcome.true("kernel") if in_graphs or not t["graph"])


def recorded_kernels(outcome):
    rows = []
    for e in outcome.of("gpu_kernel"):
        grid, block = (tuple(map(int, xyz.split(","))) for xyz in e["config"].split()[:2])
        rows.append((e["pid"], e["correlation"], e["queue"], e["name"], grid, block))
    return sorted(rows)


def true_copies(outcome, what="copy", in_graphs=True):
    return sorted((t["pid"], t["correlation"], queue(t), t["bytes"]) for t in outcome.true(what) if in_graphs or not t["graph"])


def recorded_copies(outcome, kind="gpu_copy"):
    return sorted((e["pid"], e["correlation"], e["queue"], e["bytes"]) for e in outcome.of(kind))


class CuptiCase(unittest.TestCase):
    maxDiff = 3000

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="cupti-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.n_runs = 0

    def environment(self, folder, program="", **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("FAKECUDA", "CUDA", "LD_", "PROFTRACE", "NVTX"))}
        env.update(LD_LIBRARY_PATH=f"{DOUBLES}/lib", FAKECUDA=program, FAKECUDA_WITNESS=f"{folder}/witness",
                   LD_PRELOAD=LIBRARY, PROFTRACE_DIR=f"{folder}/trace", CUDA_INJECTION64_PATH=LIBRARY)
        env.update(more)
        return env

    def folder(self):
        self.n_runs += 1
        folder = f"{self.root}/{self.n_runs}"
        os.mkdir(folder)
        return folder

    def start(self, command, program="", **environment):
        folder = self.folder()
        child = subprocess.Popen(command, cwd=folder, env=self.environment(folder, program, **environment), text=True,
                                 errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return child, folder

    def run_program(self, command, program="", timeout=200, **environment):
        child, folder = self.start(command, program, **environment)
        try:
            out, err = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            self.fail(f"{command} with {program!r} did not end")
        return Outcome(child.returncode, out, err, folder)

    def workload(self, *arguments, major=13, version=0, program="", code=0, **environment):
        words = program + (f";cupti_version {version}" if version else "")
        outcome = self.run_program([f"{DOUBLES}/workload_{major}", *map(str, arguments)], words, **environment)
        self.assertEqual(outcome.code, code, outcome.err)
        return outcome

    def assert_operations(self, outcome, in_graphs=True):
        self.assertEqual(recorded_kernels(outcome), true_kernels(outcome, in_graphs))
        self.assertEqual(recorded_copies(outcome), true_copies(outcome, in_graphs=in_graphs))
        self.assertEqual(recorded_copies(outcome, "gpu_set"), true_copies(outcome, "set", in_graphs))

    def assert_calls(self, outcome):
        true = collections.Counter((t["pid"], t["tid"], t["correlation"], t["name"].replace("_ptsz", "").replace("_ptds", ""))
                                   for t in outcome.true("api")
                                   if t["domain"] == 2 and t["name"] not in QUIET)
        recorded = collections.Counter((e["pid"], e.get("field_tid", e["tid"]), e["correlation"], e["name"])
                                       for e in outcome.of("cuda_call") if e["correlation"])
        self.assertEqual(recorded, true)

    def offset_ns(self, outcome):
        """CLOCK_MONOTONIC at the trace's beginning, by the calls, whose times CUPTI takes on the CPU."""
        true = {(t["pid"], t["correlation"]): t for t in outcome.true("api")}
        return statistics.median(true[e["pid"], e["correlation"]]["start_ns"] - e["start_ns"]
                                 for e in outcome.of("cuda_call") if e["correlation"])

    def assert_times(self, outcome, tolerance_ns=OFF_NS):
        offset = self.offset_ns(outcome)
        true = {(t["pid"], t["correlation"]): t for t in outcome.true("kernel", "copy", "set")}
        worst = 0
        for e in outcome.of("gpu_kernel") + outcome.of("gpu_copy") + outcome.of("gpu_set"):
            t = true[e["pid"], e["correlation"]]
            worst = max(worst, abs(e["start_ns"] + offset - t["start_ns"]),
                        abs(e["start_ns"] + e["duration_ns"] + offset - t["end_ns"]))
        self.assertLessEqual(worst, tolerance_ns)
        return worst


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
