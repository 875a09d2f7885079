#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real program, traced with nothing but the preload, exported by the command and opened in the Perfetto engine."""
import json
import os
import subprocess
import sys
import unittest

from viewer_case import BUILD, ViewerCase

LIBRARY, PROFTRACE = BUILD / "libproftrace.so", BUILD / "proftrace"
PROGRAM = r"""
import os, subprocess, threading
def read():
    for _ in range(300):
        with open("/etc/passwd") as file:
            file.read()
threads = [threading.Thread(target=read) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
if os.fork() == 0:
    read()
    os._exit(7)
os.wait()
subprocess.run(["/bin/ls", "/"], stdout=subprocess.DEVNULL)
os.system("cat /etc/passwd >/dev/null")
open("bad\xff\n\"name", "w").write("x" * 300000)
"""


class Real(ViewerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not LIBRARY.exists() or not PROFTRACE.exists():
            raise unittest.SkipTest(f"{LIBRARY} or {PROFTRACE} is not built")
        environment = dict(os.environ, LD_PRELOAD=str(LIBRARY), PROFTRACE_DIR=str(cls.folder / "data"))
        subprocess.run(["/usr/bin/python3", "-c", PROGRAM], cwd=cls.folder, env=environment, check=True)
        cls.run_folder = cls.folder / "data" / "latest"

    def export(self, *options, code=0):
        ran = subprocess.run([PROFTRACE, "export", self.run_folder, "--json", *options], capture_output=True, text=True,
                             check=False)
        self.assertEqual(ran.returncode, code, ran.stderr)
        self.said = ran.stderr
        return json.loads(ran.stdout) if code == 0 else None

    def test_all_of_it(self):
        written = self.export("--to", "chrome")
        trace = self.run_folder / "trace.json.gz"
        self.assertTrue(os.path.samefile(trace, written["file"]))
        self.check_trace(trace, written)
        self.assertEqual(written["left_out"], 0)
        self.assertGreaterEqual(written["flows"], 3)
        reads, = self.ask(trace, "select count(*) from slice where name = 'read' and category = 'io'")
        self.assertGreaterEqual(int(reads[0][0]), 1200)

    def test_perfetto(self):
        trace, other = self.run_folder / "trace.pftrace", self.folder / "other.json"
        written, in_chrome = self.export("--to", "perfetto"), self.export("--to", "chrome", "-o", str(other))
        self.assertTrue(os.path.samefile(trace, written["file"]))
        self.check_in_perfetto(trace, written)
        for key in ("slices", "instants", "counters", "flows", "processes", "left_out"):
            self.assertEqual(written[key], in_chrome[key], key)
        question = "select ts, dur, category, hex(name) from slice order by 1, 2, 3, 4"
        self.assertEqual(self.ask(trace, question), self.ask(other, question))
        end, = self.ask(trace, "select max(ts + dur) from slice")
        for bounds in (["--until", f"{int(end[0][0]) // 2}ns"], ["--from", f"{int(end[0][0]) // 2}ns"], ["--min-dur", "50us"]):
            self.check_in_perfetto(self.folder / "part.pftrace",
                                   self.export("--to", "perfetto", *bounds, "-o", str(self.folder / "part.pftrace")))

    def test_perfetto_holds_any_size(self):
        self.export("--to", "chrome", "--max-size", "10K", "-o", str(self.folder / "x.json"), code=2)
        self.assertIn("--to perfetto", self.said)

    def test_same_input_same_bytes(self):
        texts = []
        for name in ("a.json", "b.json"):
            self.export("--to", "chrome", "-o", str(self.folder / name))
            texts.append((self.folder / name).read_bytes())
        self.assertEqual(*texts)
        for name in ("a.pftrace", "b.pftrace"):
            self.export("--to", "perfetto", "-o", str(self.folder / name))
            texts.append((self.folder / name).read_bytes())
        self.assertEqual(*texts[2:])

    def test_filters(self):
        everything = self.export("--to", "chrome")
        trace = self.folder / "part.json"
        end, = self.ask(self.run_folder / "trace.json.gz", "select max(ts + dur) from slice")
        middle = int(end[0][0]) // 2
        halves = 0
        for bounds in (["--until", f"{middle}ns"], ["--from", f"{middle}ns"]):
            written = self.export("--to", "chrome", *bounds, "-o", str(trace))
            self.check_trace(trace, written)
            self.assertLess(written["slices"], everything["slices"])
            halves += written["slices"]
        self.assertGreaterEqual(halves, everything["slices"])
        written = self.export("--to", "chrome", "--min-dur", "50us", "-o", str(trace))
        self.check_trace(trace, written)
        short, = self.ask(trace, "select count(*) from slice where dur < 50000 and category = 'io'")
        self.assertEqual(int(short[0][0]), 0)
        pid, = self.ask(self.run_folder / "trace.json.gz", "select pid from process where name like 'ls%'")
        written = self.export("--to", "chrome", "--pid", pid[0][0], "-o", str(trace))
        self.check_trace(trace, written)
        self.assertEqual(written["processes"], 1)

    def test_a_process_that_is_not_there(self):
        self.export("--to", "chrome", "--pid", "4000000", code=2)
        self.assertIn("no process", self.said)

    def test_too_large_is_refused_and_nothing_left(self):
        trace = self.folder / "large.json"
        self.export("--to", "chrome", "--max-size", "10K", "-o", str(trace), code=2)
        self.assertIn("--min-dur", self.said)
        self.assertIn("--force", self.said)
        self.assertEqual(list(self.folder.glob("large.json*")), [])
        self.export("--to", "chrome", "--max-size", "10K", "--force", "-o", str(trace))
        self.assertTrue(trace.exists())

    def test_formats_that_do_not_exist(self):
        self.export("--to", "spreadsheet", code=2)
        self.assertIn("formats: chrome", self.said)
        self.export("--to", "crome", code=2)
        self.assertIn("did you mean 'chrome'", self.said)
        self.export(code=2)
        self.assertIn("--to", self.said)

    def test_a_place_that_cannot_be_written(self):
        self.export("--to", "chrome", "-o", "/nowhere/trace.json", code=125)
        self.assertIn("/nowhere/trace.json", self.said)

    def test_standard_output(self):
        ran = subprocess.run([PROFTRACE, "export", self.run_folder, "--to", "chrome", "-o", "-"], capture_output=True,
                             check=True)
        self.assertGreater(len(json.loads(ran.stdout)["traceEvents"]), 1000)


if __name__ == "__main__":
    sys.exit(unittest.main())
