#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU samples on timelines: as slices that nest, of as much time as their thread ran, under the names that threads gave themselves;
and a training on CPUs in the form of PyTorch's profiler."""
import collections
import gzip
import json
import os
import subprocess
import unittest

from viewer_case import BUILD, SOURCE, ViewerCase
import machine
from sampled import no_samples, no_samples_of_python

PROFTRACE = BUILD / "proftrace"
EXAMPLE = SOURCE / "scripts" / "example" / "train.py"
PROGRAM = r"""
import ctypes, os, threading, time

def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))

def worker():
    ctypes.CDLL(None).prctl(15, b"pt_data_worker", 0, 0, 0)
    compute(0.6)
    os._exit(0)

if os.fork() == 0:
    worker()
thread = threading.Thread(target=compute, args=(0.4,))
thread.start()
compute(0.5)
thread.join()
os.wait()
"""


def run(folder, *command):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
    subprocess.run([PROFTRACE, "run", "--no-report", "-o", folder, "--", *command], cwd=folder.parent, env=environment, check=True,
                   capture_output=True, timeout=200)


def export(folder, form, out):
    ran = subprocess.run([PROFTRACE, "export", folder, "--to", form, "--json", "-o", str(out)], capture_output=True, text=True, check=False)
    return ran.returncode, json.loads(ran.stdout) if ran.returncode == 0 else ran.stderr


@unittest.skipIf(no_samples_of_python(PROFTRACE), no_samples_of_python(PROFTRACE))
class Samples(ViewerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_folder = cls.folder / "run"
        run(cls.run_folder, "/usr/bin/python3", "-c", PROGRAM)
        cls.chrome = cls.folder / "chrome.json"
        cls.code, cls.written = export(cls.run_folder, "chrome", cls.chrome)
        with open(cls.chrome, encoding="utf-8") as file:
            cls.events = json.load(file)["traceEvents"]
        cls.names = {(event["pid"], event["tid"]): event["args"]["name"] for event in cls.events
                     if event["ph"] == "M" and event["name"] == "thread_name"}

    def slices(self):
        """Of each track."""
        found = collections.defaultdict(list)
        for event in self.events:
            if event.get("cat") == "cpu":
                found[event["pid"], event["tid"]].append(event)
        return found

    def test_both_forms_open_and_are_the_same(self):
        self.assertEqual(self.code, 0, self.written)
        self.check_trace(self.chrome, self.written)
        perfetto = self.folder / "run.pftrace"
        code, written = export(self.run_folder, "perfetto", perfetto)
        self.assertEqual(code, 0, written)
        self.check_in_perfetto(perfetto, written)
        self.assertEqual(written["slices"], self.written["slices"])
        if not self.no_engine:
            question = "select ts, dur, depth, hex(name) from slice where category = 'cpu' order by 1, 2, 3, 4"
            self.assertEqual(self.ask(perfetto, question), self.ask(self.chrome, question))

    def test_they_nest_and_last_as_long_as_their_threads_ran(self):
        """The witness is the program: it computes until the clock of its own thread says so."""
        ran_s = {}
        for track, slices in self.slices().items():
            open_until, roots_us = [], 0
            for event in slices:
                end = event["ts"] + event["dur"]
                while open_until and open_until[-1] <= event["ts"] + 1e-6:
                    open_until.pop()
                self.assertTrue(not open_until or end <= open_until[-1] + 1e-6, event)
                roots_us += 0 if open_until else event["dur"]
                open_until.append(end)
            ran_s[self.names[track]] = roots_us / 1e6
        worker = [seconds for name, seconds in ran_s.items() if name.startswith("pt_data_worker")]
        self.assertEqual(len(worker), 1, ran_s)
        # Between two samples the thread may have waited for a CPU: slices are as long as that or longer.
        self.assertGreater(worker[0], 0.4)
        self.assertTrue(any(name.startswith("main ") and seconds > 0.3 for name, seconds in ran_s.items()), ran_s)
        self.assertTrue(any(name.startswith("thread ") and seconds > 0.2 for name, seconds in ran_s.items()), ran_s)

    def test_names(self):
        processes = [event["args"]["name"] for event in self.events if event["ph"] == "M" and event["name"] == "process_name"]
        self.assertEqual(len([name for name in processes if name.startswith("pt_data_worker (fork of python3")]), 1, processes)
        self.assertTrue(any("compute" in event["name"] for slices in self.slices().values() for event in slices))

    def test_a_fork_that_becomes_another_program(self):
        """It had the name of its maker: that of the other program came with it."""
        folder, out = self.folder / "becomes", self.folder / "becomes.json"
        run(folder, "/usr/bin/python3", "-c", "import os, time\nif not os.fork():\n    time.sleep(0.1)\n"
            "    os.execvp('perl', ['perl', '-e', '$i++ while $i < 3000000'])\nos.wait()")
        self.assertEqual(export(folder, "chrome", out)[0], 0)
        with open(out, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        names = [event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "process_name"]
        self.assertIn("python3 (fork)", names)
        self.assertFalse([name for name in names if name.startswith("perl (fork of")], names)

    def first_sample_after_exec_us(self, folder):
        run(folder, *machine.first_in_line(), "/bin/sh", "-c", "exec /usr/bin/python3 -c 'sum(range(30000000))'")
        out = folder.with_suffix(".json")
        self.assertEqual(export(folder, "chrome", out)[0], 0)
        with open(out, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        lives = {event["name"]: event for event in events if event.get("cat") == "process"}
        python = next(life for name, life in lives.items() if name.startswith("python3"))
        mine = [event["ts"] for event in events if event.get("cat") == "cpu" and event["pid"] == python["pid"]]
        return min(mine) - python["ts"]

    @unittest.skipIf(no_samples(PROFTRACE), no_samples(PROFTRACE))
    def test_the_first_samples_of_a_new_image_are_its_own(self):
        """An exec: what the next program runs at once is none of the one before. On a busy machine the program may wait for a
        CPU before its first sample, but not each time."""
        for attempt in range(5):
            if self.first_sample_after_exec_us(self.folder / f"exec{attempt}") < 15000:
                return
        self.fail("a sample each 10 ms, but the first one came later, five times")

    def test_no_training_has_no_torch_form(self):
        code, said = export(self.run_folder, "torch", self.folder / "none")
        self.assertEqual(code, 2)
        self.assertIn("loaded PyTorch", said)
        self.assertFalse((self.folder / "none").exists())


class Training(ViewerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if subprocess.run(["/usr/bin/python3", "-c", "import torch, PIL"], capture_output=True, check=False).returncode:
            raise unittest.SkipTest("the system's python3 has no torch and PIL (Debian packages python3-torch, python3-pil)")
        cls.run_folder = cls.folder / "run"
        run(cls.run_folder, "/usr/bin/python3", EXAMPLE, "--data", "images", "--images", "64", "--epochs", "2")

    @unittest.skipIf(no_samples_of_python(PROFTRACE), no_samples_of_python(PROFTRACE))
    def test_the_form_of_pytorchs_profiler(self):
        code, written = export(self.run_folder, "torch", self.folder / "torch")
        self.assertEqual(code, 0, written)
        files = list((self.folder / "torch").iterdir())
        self.assertEqual(len(files), 1, "one of the trainer, none of its workers")
        with gzip.open(files[0], "rt", encoding="utf-8") as file:
            trace = json.load(file)
        self.assertEqual(trace["distributedInfo"], {"rank": 0, "world_size": 1})
        kinds = collections.Counter(event.get("cat") for event in trace["traceEvents"] if event["ph"] == "X")
        self.assertGreater(kinds["cpu_sample"], 100)
        waits_s = sum(event["dur"] for event in trace["traceEvents"]
                      if event["ph"] == "X" and event["name"].startswith("enumerate(DataLoader)#")) / 1e6
        report = json.loads(subprocess.run([PROFTRACE, "report", self.run_folder, "--format", "json"], capture_output=True, text=True,
                                           check=True).stdout)
        # Waits below a tenth of a millisecond are left out. What the main thread waited for a CPU meanwhile is a part of its own.
        time = report["stages"][0]["time"]
        self.assertGreaterEqual(waits_s, 0.9 * time["data_wait_s"] - 0.1, time)
        self.assertLessEqual(waits_s, 1.1 * (time["data_wait_s"] + time["runnable_s"]) + 0.1, time)
        shown = {"schemaVersion", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds", "deviceProperties", "traceEvents",
                 "traceName"}
        self.assertEqual(set(trace), shown)
        if not self.no_engine:
            count, = self.ask(files[0], "select count(*) from slice")
            self.assertEqual(int(count[0][0]), written["slices"] + 1)  # and the end of the recording

    @unittest.skipIf(no_samples(PROFTRACE), no_samples(PROFTRACE))
    def test_a_training_that_a_shell_becomes(self):
        """The kernel's number of the thread stays across exec: its samples are the training's from then on."""
        folder = self.folder / "shell"
        run(folder, "/bin/sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; "
            f"exec /usr/bin/python3 {EXAMPLE} --data images --images 64 --epochs 1")
        code, written = export(folder, "torch", self.folder / "shell_torch")
        self.assertEqual(code, 0, written)
        file, = (self.folder / "shell_torch").iterdir()
        with gzip.open(file, "rt", encoding="utf-8") as text:
            events = json.load(text)["traceEvents"]
        names = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
        pid, = {event["pid"] for event in events if event.get("cat") == "cpu_sample"}
        of_main = [event for event in events if event.get("cat") == "cpu_sample" and names[event["tid"]].endswith(f" {pid} (CPU samples)")]
        shown = collections.Counter(event["name"] for event in of_main)
        self.assertGreater(sum(n for name, n in shown.items() if "torch" in name), 20, shown)
        self.assertFalse([name for name in shown if "dash" in name or "/bin/sh" in name], "samples of the shell")


if __name__ == "__main__":
    unittest.main()
