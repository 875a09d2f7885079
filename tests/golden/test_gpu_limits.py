#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that have more of something than the analysis of GPUs keeps: what it says of the rest stays true.

Each trace is written as text, as the stories are, but by the thousand.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from damage import lose_the_beginning, lose_the_middle  # noqa: E402

PROFTRACE = os.path.join(os.environ["PROFTRACE_BUILD"], "proftrace")
GPU = 1 << 31  # the thread of what CUPTI records
GIB = 1 << 30


class Story:
    def __init__(self):
        self.heads, self.events, self.n_calls = [], [], 0

    def process(self, pid, start_s, end_s, tids=(), state="exited exit_status=0"):
        self.heads.append(
            f'process {pid} ppid=1 uid=1000 trace_id={pid:#x} start={start_s:.9f} end={end_s:.9f} state={state} heap=off '
            f'cpu_ns=1000000 max_rss_bytes=1048576 boot="b" host="h1" stage="train" comm="train" exe="/usr/bin/train" cwd="/" argc=1 argv=["train"]')
        for slot, tid in enumerate((pid, GPU, *tids)):
            self.heads.append(f"thread {pid}/{tid} slot={slot} life=1 start={start_s:.9f}")

    def event(self, at_s, thread, text, duration_s=None):
        took = "" if duration_s is None else f" +{duration_s:.9f}"
        self.events.append((at_s + (duration_s or 0), f"{at_s:.9f}{took} {thread} {text}"))

    def device(self, at_s, pid, uuid="GPU-1", number=0):
        described = {"computeMajor": 9, "uuid": uuid, "id": number, "name": "NVIDIA H200", "totalGlobalMem": 140 * GIB}
        properties = json.dumps(json.dumps(described, separators=(",", ":")))
        self.event(at_s, f"{pid}/{GPU}",
                   f'gpu_device name="NVIDIA H200" device={number} memory_bytes={140 * GIB} properties={properties}')

    def memory(self, at_s, pid, size_bytes, n_pools=0):
        for pool in ("", *(f"/0x{i + 1:x}" for i in range(n_pools))):
            self.event(at_s, f"{pid}/{GPU}", f'gpu_memory place="0/3{pool}" is_release=0 addr=0x7f0000000000 bytes={size_bytes}')

    def kernel(self, at_s, pid, correlation, config, took_s=2e-5):
        self.event(at_s, f"{pid}/{GPU}", f'gpu_kernel correlation={correlation} queue="0/1/7" name="_Z5trainPf" config="{config}"', took_s)

    def launched(self, at_s, pid, correlation, took_s):
        self.event(at_s, f"{pid}/{GPU}", f'cuda_call class=1 result=0 name="cudaLaunchKernel" correlation={correlation} tid={pid}', 0.0001)
        self.kernel(at_s + 0.0002, pid, correlation, "64,1,1 256,1,1 32 0+0", took_s)

    def report(self, damage=lambda run: None, options=()):
        with tempfile.TemporaryDirectory() as folder:
            story, run = os.path.join(folder, "story.pt.txt"), os.path.join(folder, "run")
            os.mkdir(run)
            lines = [line for _, line in sorted(self.events, key=lambda event: event[0])]
            with open(story, "w", encoding="utf-8") as file:
                file.write("\n".join(["proftrace-text 1 start_realtime_ns=1705320000000000000", *self.heads, *lines]) + "\n")
            subprocess.run([PROFTRACE, "assemble", story, "-o", run], check=True)
            damage(run)
            out = subprocess.run([PROFTRACE, "report", run, "--format", "json", *options], check=True, stdout=subprocess.PIPE).stdout
        return json.loads(out)


class Holes(unittest.TestCase):
    """Records are missing between others."""

    def test_what_is_not_seen_is_not_idle(self):
        """The GPU works nine tenths of each step; an import that is open when events begin to be missing does not last for ever."""
        story, n = Story(), 40000
        story.process(100, 0, n * 0.001 + 1)
        story.device(0.1, 100)
        story.event(0.15, "100/100", 'phase_begin phase=import object=0x0 name="late"')
        for i in range(n):
            at_s = 0.2 + i * 0.001
            story.event(at_s, "100/100", f"step number={i}")
            story.event(at_s, "100/100", 'range_begin name="work"')
            story.launched(at_s + 0.00001, 100, i + 1, 0.0009 - (i % 7) * 1e-6)
            story.event(at_s + 0.0005, "100/100", "range_end")
        story.event(0.3 + n * 0.001, "100/100", "phase_end outcome=done amount=0 object=0x0")
        whole = story.report()["stages"][0]["gpu"]
        report = story.report(lose_the_middle)
        gpu = report["stages"][0]["gpu"]
        (device,), (true,) = gpu["devices"], whole["devices"]
        self.assertGreater(device["not_seen_s"], 5)
        self.assertLess(device["idle_s"], 0.9 * true["idle_s"])
        self.assertAlmostEqual(device["busy_percent"], true["busy_percent"], delta=3)
        self.assertAlmostEqual(device["idle_s"] + device["busy_s"] + device["not_seen_s"], true["idle_s"] + true["busy_s"], delta=0.05)
        self.assertEqual(gpu.get("not_seen", []), [], "it was not given away")
        imported = sum(cause["seconds"] for cause in device["idle_causes"] if "mport" in cause["cause"])
        self.assertLess(imported, 0.6 * device["idle_s"])


class LongRun(unittest.TestCase):
    """The ring has overwritten what was said once, when CUDA started."""

    def test_of_four_ranks(self):
        n, story = 6000, Story()
        for rank in range(4):
            pid = 100 + rank
            story.process(pid, 0, 10, state="live")
            story.device(0.2, pid, f"GPU-{rank}")
            for i in range(n):
                story.launched(1 + i * 0.001, pid, i + 1, 0.0005)
        report = story.report(lose_the_beginning)
        gpu = report["stages"][0]["gpu"]
        self.assertGreater(report["trace_quality"]["overwritten"], n)
        self.assertEqual([(device["id"], device["name"], device["memory_bytes"]) for device in gpu["devices"]],
                         [(rank, "NVIDIA H200", 140 * GIB) for rank in range(4)])
        self.assertLess(max(device["kernels_calls"] for device in gpu["devices"]), n)
        self.assertIn("a process ended otherwise than by exit", gpu["reason"])


class Window(unittest.TestCase):
    """What is said once, when CUDA starts, holds in a window of the end."""

    def test_of_four_ranks(self):
        """Each sees one GPU, which it calls 0: they are four. None of them ended by itself."""
        story = Story()
        for rank in range(4):
            pid = 100 + rank
            story.process(pid, 0, 10, state="live")
            story.event(0.1, f"{pid}/{pid}", 'gpu_tracing state=1 reason="CUPTI 12"')
            story.device(0.2, pid, f"GPU-{rank}")
            story.memory(0.3, pid, 20 * GIB)
            for i in range(10):
                story.launched(1 + i * 0.9, pid, i + 1, 0.1)
            story.memory(9.5, pid, 64 << 20)
        whole, window = (story.report(options=options)["stages"][0]["gpu"] for options in ((), ("--since", "3s")))
        for gpu, kernels in ((whole, 10), (window, 3)):
            self.assertEqual([(device["id"], device["name"], device["kernels_calls"]) for device in gpu["devices"]],
                             [(rank, "NVIDIA H200", kernels) for rank in range(4)])
            self.assertIn("a process ended otherwise than by exit", gpu["reason"])
            self.assertEqual(gpu["source"], "cupti")
        self.assertEqual(whole["memory"][0]["peak_bytes"], 20 * GIB + (64 << 20))
        for key in ("memory", "memory_over_time", "pools"):
            with self.subTest(key=key):
                self.assertIsNone(window[key])
                self.assertIn("not known of a window", window[f"{key}_reason"])

    def test_calls_seen_by_wrappers(self):
        story = Story()
        story.process(100, 0, 10)
        story.event(0.1, "100/100", 'gpu_tracing state=2 reason="no libcupti"')
        for at_s in (2, 8):
            story.event(at_s, "100/100", 'cuda_launch result=0 name="train" config="1,1,1 1,1,1 1 0+0" stream=0x0', 0.001)
        gpu = story.report(options=("--since", "3s"))["stages"][0]["gpu"]
        self.assertIn("(no libcupti)", gpu["reason"])


class Memory(unittest.TestCase):
    """4,096 holdings of memory are kept, of a process in a kind of memory or a pool: here there are 4,160."""
    N_PROCESSES, N_POOLS = 520, 7

    def test_one_after_the_other(self):
        """Those of ended processes must make room, or those after them are never taken back."""
        story = Story()
        for i in range(self.N_PROCESSES):
            pid, at_s = 100 + i, i * 0.001
            story.process(pid, at_s, at_s + 0.0009)
            story.device(at_s + 0.0001, pid)
            story.memory(at_s + 0.0002, pid, GIB, self.N_POOLS)
        gpu = story.report()["stages"][0]["gpu"]
        self.assertEqual({(row["memory"], row["peak_bytes"]) for row in gpu["memory"] if "/0x" not in row["memory"]}, {("0/device", GIB)})
        self.assertEqual(max(point["bytes"] for point in gpu["memory_over_time"][0]["points"]), GIB * (1 + self.N_POOLS))

    def test_all_at_once(self):
        """Of those beyond the limit nothing is known: what is not taken back must not be added."""
        story = Story()
        for i in range(self.N_PROCESSES):
            story.process(100 + i, 0, 5)
            story.device(0.1, 100 + i)
            story.memory(0.2 + i * 0.0001, 100 + i, 1 << 20, self.N_POOLS)
        story.process(99, 0, 10)
        story.device(0.1, 99)
        story.memory(8, 99, 1 << 20)
        points = story.report()["stages"][0]["gpu"]["memory_over_time"][0]["points"]
        self.assertEqual(points[-1]["bytes"], 1 << 20)


class Texts(unittest.TestCase):
    """65,536 texts are kept."""

    def test_more_configurations_than_texts(self):
        """Names that are known stay known, phases have their rows, and the GPUs of later processes are their own."""
        n, story = 66000, Story()
        story.process(100, 0, 5)
        story.device(0.1, 100)
        for i in range(n):
            story.kernel(0.2 + i * 5e-5, 100, i + 1, f"{i + 1},1,1 256,1,1 32 0+0")
        story.process(101, 4, 5)
        story.device(4.1, 101, "GPU-2")
        story.event(4.2, "101/101", 'phase_begin name="Net" phase=forward object=0x7f0000001000')
        story.event(4.3, f"101/{GPU}", 'cuda_call class=1 result=0 name="cudaLaunchKernel" correlation=1 tid=101', 0.0001)
        story.event(4.4, "101/101", "phase_end outcome=0")
        story.kernel(4.5, 101, 1, "64,1,1 256,1,1 32 0+0")
        story.process(102, 4, 5)
        story.device(4.1, 102, "GPU-3")
        story.kernel(4.6, 102, 1, "64,1,1 256,1,1 32 0+0")
        gpu = story.report()["stages"][0]["gpu"]
        self.assertEqual([(device["id"], device["name"], device["kernels_calls"]) for device in gpu["devices"]],
                         [(0, "NVIDIA H200", n), (1, "NVIDIA H200", 1), (2, "NVIDIA H200", 1)])
        self.assertEqual([(row["name"], row["calls"], row["configurations"]) for device in gpu["devices"] for row in device["kernels"]],
                         [("train(float*)", n, n), ("train(float*)", 1, 1), ("train(float*)", 1, 1)])
        self.assertEqual([row["name"] for row in gpu["ranges"]], ["forward"])


class Overlapping(unittest.TestCase):
    """1,024 ranges that may overlap others are kept while they are open."""

    def test_left_open(self):
        """Those of ended processes last as long as these did, and make room."""
        n_processes, n_ranges, story = 110, 10, Story()
        for i in range(n_processes):
            pid = 100 + i
            story.process(pid, i * 0.01, i * 0.01 + 0.009)
            for j in range(n_ranges):
                story.event(i * 0.01 + 0.001, f"{pid}/{pid}", f'range_open name="left" id={j + 1}')
        story.process(99, 0, 5)
        story.device(0.001, 99)
        story.event(2, "99/99", 'range_open name="late" id=1')
        story.launched(2.1, 99, 1, 2e-5)
        story.event(3, "99/99", "range_close id=1")
        stage = story.report()["stages"][0]
        self.assertEqual({(row["name"], row["calls"], row["total_s"]) for row in stage["ranges"]},
                         {("left", n_processes * n_ranges, round(n_processes * n_ranges * 0.008, 6)), ("late", 1, 1)})
        self.assertEqual([(row["name"], row["calls"], row["gpu_s"]) for row in stage["gpu"]["ranges"]], [("late", 1, 2e-5)])


class Idle(unittest.TestCase):
    def test_one_of_two_gpus(self):
        """While one GPU goes on, the other one is idle for so long that its thread makes more calls than are kept of others."""
        n_calls, story = 6000, Story()
        for pid, number in ((100, 0), (101, 1)):
            story.process(pid, 0, 1000)
            story.device(0.1, pid, f"GPU-{number}")
        for i in range(900):
            story.launched(1 + i, 100, i + 1, 0.99)
        story.launched(1, 101, 1, 0.1)
        for i in range(n_calls):
            at_s = 2 + i * 0.15
            story.event(at_s, "101/101", f'io_read fd=5 result=1000 path="/data/{i % 7}/a" requested_bytes=1000', 0.06)
            story.event(at_s + 0.07, "101/101", "wait_sleep clock=1 result=0 is_absolute=0 requested_ns=50000000", 0.05)
        story.launched(903, 101, 2, 0.1)
        idle = story.report()["stages"][0]["gpu"]["devices"][1]["idle_causes"]
        seconds = {row["cause"]: row["seconds"] for row in idle}
        self.assertEqual(seconds.get("unattributed", 0), 0)
        self.assertAlmostEqual(seconds["file_read"], n_calls * 0.06, places=3)
        self.assertAlmostEqual(seconds["sleep"], n_calls * 0.05, places=3)


if __name__ == "__main__":
    unittest.main()
