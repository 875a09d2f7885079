#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HolisticTraceAnalysis reads the torch export and comes to our numbers: busy, idle, overlap and launch times within 1 %.

It is installed from PyPI into an environment of its own in the build folder, once."""
import json
import os
import subprocess
import sys
import unittest

import gpu_story
import mini_torch
from viewer_case import BUILD, HERE, ViewerCase

PROFTRACE, PLACE = BUILD / "proftrace", BUILD / "tests" / "hta"
TOLERANCE = 0.01


def install():
    """Its Python, or None and the reason."""
    python = PLACE / "bin" / "python"
    probe = [python, "-c", "import hta.trace_analysis"]
    if python.exists() and subprocess.run(probe, capture_output=True, check=False).returncode == 0:
        return python, None
    made = subprocess.run([sys.executable, "-m", "venv", PLACE], capture_output=True, text=True, check=False)
    if made.returncode:
        return None, f"no virtual environment can be made: {(made.stderr or made.stdout).strip().splitlines()[-1]}"
    got = subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "HolisticTraceAnalysis",
                          "pandas<3"],  # its critical path fails with 3
                         capture_output=True, text=True, check=False, timeout=500)
    if got.returncode:
        return None, f"HolisticTraceAnalysis cannot be installed: {got.stderr.strip().splitlines()[-1]}"
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        return None, "HolisticTraceAnalysis is installed and cannot be imported"
    return python, None


def last_step_seen(began_ns, work):
    """HTA leaves out what was launched after the last step began, and takes the step on a GPU's stream for one, too. `work`
    is (start, stream, start of the call)."""
    inside = [w for w in work if w[2] >= began_ns]
    return max([began_ns, *(min(w[0] for w in inside if w[1] == stream) - 1 for stream in {w[1] for w in inside})])


class HtaCase(ViewerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not PROFTRACE.exists():
            raise unittest.SkipTest(f"{PROFTRACE} is not built")
        cls.python, reason = install()
        if reason:
            raise unittest.SkipTest(reason)

    @classmethod
    def figures_of(cls, folder, *steps):
        subprocess.run([PROFTRACE, "export", folder, "--to", "torch"], check=True, capture_output=True)
        ran = subprocess.run([cls.python, HERE / "hta_figures.py", folder / "torch-traces", *steps], capture_output=True, text=True,
                             check=False, env=dict(os.environ, HTA_DISABLE_NS_ROUNDING="1"))
        if ran.returncode:
            raise AssertionError(f"HTA gave up: {ran.stderr[-3000:]}")
        return json.loads(ran.stdout)

    def near(self, found_us, wanted_ns, what):
        self.assertLessEqual(abs(found_us * 1000 - wanted_ns), TOLERANCE * wanted_ns + 1000, f"{what}: {found_us}, {wanted_ns}")

    def check_report(self, row, folder):
        """The same shares of the time between the first and the last work as in our report. HTA leaves the last step out: one of many."""
        ran = subprocess.run([PROFTRACE, "report", folder, "--format", "json"], capture_output=True, check=True)
        device, = json.loads(ran.stdout)["stages"][0]["gpu"]["devices"]
        compute_s = device["kernels_s"] - device["only_collectives_s"]
        self.assertAlmostEqual(device["busy_s"] + device["idle_s"], device["window_s"], delta=1e-6)
        self.assertAlmostEqual(device["kernels_s"] + device["copies_s"] - device["overlap_s"], device["busy_s"], delta=1e-6)
        for theirs, ours in (("idle_time(us)", device["idle_s"]), ("compute_time(us)", compute_s),
                             ("non_compute_time(us)", device["busy_s"] - compute_s)):
            share, wanted = row[theirs] / row["kernel_time(us)"], ours / device["window_s"]
            self.assertLessEqual(abs(share - wanted), TOLERANCE, f"{theirs}: {share}, {wanted}")
        self.assertLessEqual(abs(row["kernel_time(us)"] / 1e6 - device["window_s"]), 1.5 / self.STEPS * device["window_s"])

    def check_temporal(self, row, work):
        """`work` is (kind, start, end, ...) of all that HTA looks at."""
        whole = max(end for _, _, end, *_ in work) - min(start for _, start, *_ in work)
        busy = gpu_story.union([(start, end) for _, start, end, *_ in work])
        compute = gpu_story.union([(start, end) for kind, start, end, *_ in work if kind == "compute"])
        self.near(row["kernel_time(us)"], whole, "kernel time")
        self.near(row["idle_time(us)"], whole - busy, "idle")
        self.near(row["compute_time(us)"], compute, "compute")
        self.near(row["non_compute_time(us)"], busy - compute, "other")


class MiniTorch(HtaCase):
    """A training that was recorded: what it did is in the trace, and HTA finds the same."""

    STEPS = 60

    def kind_of(self, event):
        if event["event"] != "gpu_kernel":
            return "memory"
        return "communication" if "nccl" in event["name"] else "compute"

    def test_temporal_breakdown(self):
        reason = mini_torch.why_not()
        if reason:
            self.skipTest(reason)
        folder = mini_torch.record(self.folder, "--steps", str(self.STEPS), "--allreduce", "2", "--cause", "sleep=5")
        ran = subprocess.run([PROFTRACE, "dump", "--json", folder], capture_output=True, check=True)
        events = [json.loads(line) for line in ran.stdout.decode("utf-8", "replace").splitlines()]
        last_step_ns = max(event["start_ns"] for event in events
                           if event["event"] == "range_begin" and event["name"].startswith("ProfilerStep#"))
        began = {event["correlation"]: event["start_ns"] for event in events if event["event"] == "cuda_call"}
        last_step_ns = last_step_seen(last_step_ns, [
            (event["start_ns"], event["queue"], began[event["correlation"]]) for event in events
            if event["event"] in ("gpu_kernel", "gpu_copy", "gpu_set")])
        calls = {event["correlation"]: event["name"] for event in events
                 if event["event"] == "cuda_call" and event["start_ns"] < last_step_ns}
        work = [(self.kind_of(event), event["start_ns"], event["start_ns"] + event["duration_ns"], calls[event["correlation"]])
                for event in events
                if event["event"] in ("gpu_kernel", "gpu_copy", "gpu_set") and event["correlation"] in calls]
        self.assertGreater(len(work), 100)
        figures = self.figures_of(folder, "3-6")
        self.assertEqual(figures["ranks"], [0])
        self.assertEqual(figures["critical_path"]["waits"], 4, "one in each step")
        self.check_temporal(figures["temporal"][0], work)
        self.check_report(figures["temporal"][0], folder)
        launched = [w for w in work if w[3] != "cudaMemcpy"]  # it looks at launches that do not wait
        self.assertEqual(len(figures["launches"]["0"]), len(launched))
        self.near(sum(row["gpu_duration"] for row in figures["launches"]["0"]),
                  sum(end - start for _, start, end, _ in launched), "launched")


class CriticalPath(HtaCase):
    """From a step's first launch through its kernels to the host that waits for them; between steps HTA counts nothing."""

    def test_gpu_bound_steps(self):
        text, folder = self.folder / "bound.pt.txt", self.folder / "bound"
        rank = gpu_story.Bound([])
        for number in range(8):
            rank.step(number, 20)
        gpu_story.save(text, [rank])
        folder.mkdir()
        subprocess.run([PROFTRACE, "assemble", text, "-o", folder], check=True, capture_output=True)
        figures = self.figures_of(folder, "2-5")
        path = figures["critical_path"]
        self.assertEqual([figures["annotated"][f"ProfilerStep#{number}"] for number in range(7)], [20] * 7)
        steps, kernels = rank.bounds[2:6], [work for work in rank.work if work[4] >= rank.bounds[2][0]][:80]
        self.assertEqual(path["waits"], 4)
        self.near(sum(path["parts"].values()), sum(end - start for start, end in steps), "critical path")
        self.near(path["parts"]["gpu_compute_bound"], sum(end - start for _, start, end, *_ in kernels), "kernels on it")


    def test_events_between_streams(self):
        """One kernel waits for another one in another stream, the host for an event: both are on the path, with what they waited for."""
        text, folder = self.folder / "events.pt.txt", self.folder / "events"
        rank = gpu_story.Events([])
        for number in range(8):
            rank.step(number)
        gpu_story.save(text, [rank])
        folder.mkdir()
        subprocess.run([PROFTRACE, "assemble", text, "-o", folder], check=True, capture_output=True)
        path = self.figures_of(folder, "2-5")["critical_path"]
        self.assertEqual(path["waits"], 8, "of the second kernel for the first, of the host for the second")
        self.near(path["parts"]["gpu_compute_bound"], 4 * (rank.FIRST_NS + rank.SECOND_NS), "kernels on it")
        self.near(sum(path["parts"].values()), 4 * (4500 + rank.FIRST_NS + rank.SECOND_NS), "with the launch of the first")


class Story(HtaCase):
    """A training of two ranks that never happened: every number is known."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        text, folder = cls.folder / "t.pt.txt", cls.folder / "run"
        cls.told = gpu_story.write(text, ranks=2, steps=8, kernels=80)
        folder.mkdir()
        subprocess.run([PROFTRACE, "assemble", text, "-o", folder], check=True, capture_output=True)
        cls.figures = cls.figures_of(folder)

    def work_of(self, rank):
        until_ns = last_step_seen(rank.last_step_ns, [(start, stream, call) for _, start, _, stream, call in rank.work])
        return [work for work in rank.work if work[4] < until_ns]

    def test_temporal_breakdown(self):
        self.assertEqual(self.figures["ranks"], [0, 1])
        for rank, row in zip(self.told, self.figures["temporal"]):
            self.check_temporal(row, self.work_of(rank))

    def test_idle_time_breakdown(self):
        for rank in self.told:
            for stream in (7, 20):
                rows = [row for row in self.figures["idle"] if row["rank"] == rank.device and row["stream"] == stream]
                work = sorted((start, end) for _, start, end, where, _ in self.work_of(rank) if where == stream)
                idle = sum(after[0] - before[1] for before, after in zip(work, work[1:]))
                self.near(sum(row["idle_time"] for row in rows), idle, f"idle of stream {stream}")
                self.assertGreater(len(rows), 0)

    def test_overlap(self):
        for rank, row in zip(self.told, self.figures["overlap"]):
            work = self.work_of(rank)
            kinds = {kind: [(start, end) for what, start, end, *_ in work if what == kind]
                     for kind in ("compute", "communication")}
            communication = gpu_story.union(kinds["communication"])
            both = gpu_story.union(kinds["compute"]) + communication - gpu_story.union(kinds["compute"] + kinds["communication"])
            self.assertAlmostEqual(row["comp_comm_overlap_pctg"], 100 * both / communication, delta=1)

    def test_launches(self):
        for rank in self.told:
            rows = self.figures["launches"][str(rank.device)]
            work = [w for w in self.work_of(rank) if w[0] != "memory"]
            self.assertEqual(len(rows), len(work))
            self.near(sum(row["gpu_duration"] for row in rows), sum(end - start for _, start, end, *_ in work), "kernels")


if __name__ == "__main__":
    unittest.main()
