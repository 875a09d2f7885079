# SPDX-License-Identifier: MIT
"""`proftrace top`: its totals are the report's while a run goes on and after, its rates tell who works, and the programs do not notice."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from launcher_case import LIBRARY, LauncherCase, clean_environment, descendants_of

WAITS = """
import os, sys
file = os.open("/etc/passwd", os.O_RDONLY)
for i in range(1000):
    os.pread(file, 10, 0)
out = os.open("out", os.O_WRONLY | os.O_CREAT)
for i in range(50):
    os.write(out, b"x" * 7)
print("ready", flush=True)
sys.stdin.readline()
"""
READS = """
import os
file = os.open("/etc/passwd", os.O_RDONLY)
print("ready", flush=True)
while True:
    os.pread(file, 10, 0)
"""
SPINS = "print('ready', flush=True)\nwhile True: pass"


class Top(LauncherCase):
    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "run"), 0o700)

    def start(self, program, *before):
        environment = clean_environment(LD_PRELOAD=LIBRARY, PROFTRACE_SESSION=os.path.join(self.folder, "run"))
        process = subprocess.Popen([*before, "/usr/bin/python3", "-c", program], cwd=self.folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(self.end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def top(self, run="run", *options, **more):
        done = self.proftrace("top", run, "--json", "-i", "100ms", *options, **more)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        found = json.loads(done.stdout)
        return found, {process["pid"]: process for process in found["processes"]}

    def check_totals(self, of_top):
        report = json.loads(self.proftrace("report", "run", "--format", "json").stdout)
        for process in report["processes"]:
            row = of_top[process["pid"]]
            ours = [row[key] for key in ("reads", "read_bytes", "writes", "written_bytes", "allocations", "allocated_bytes", "events")]
            io, heap = process["io"], process["heap"]
            self.assertEqual(ours, [io["read"]["calls"], io["read"]["bytes"], io["write"]["calls"], io["write"]["bytes"], heap["allocs"], heap["bytes"], process["events"]["recorded"]])

    def test_totals_of_a_run_that_goes_on_and_of_one_that_has_ended(self):
        process = self.start(WAITS)
        found, rows = self.top()
        self.assertEqual((found["running"], rows[process.pid]["state"]), (1, "running"))
        self.assertGreaterEqual(rows[process.pid]["reads"], 1000)
        self.assertGreaterEqual(rows[process.pid]["written_bytes"], 350)
        self.check_totals(rows)
        process.communicate(b"\n")
        found, rows = self.top()
        row = rows[process.pid]
        self.assertEqual((found["running"], found["window_s"], row["state"]), (0, 0, "exit 0"))
        self.assertEqual([(row[key], row[key + "_reason"]) for key in ("cpu_percent", "rss_bytes", "read_bytes_per_s", "steps_per_s")], [(None, "it has ended")] * 4)
        self.check_totals(rows)

    def test_rates_tell_who_works(self):
        waits, reads, spins = self.start(WAITS), self.start(READS), self.start(SPINS)
        found, rows = self.top()
        self.assertEqual((found["running"], len(rows)), (3, 3))
        self.assertEqual([rows[waits.pid][key] for key in ("read_bytes_per_s", "written_bytes_per_s", "allocations_per_s", "cpu_percent")], [0, 0, 0, 0])
        self.assertGreater(rows[reads.pid]["read_bytes_per_s"], 1000)
        self.assertEqual(rows[spins.pid]["read_bytes_per_s"], 0)
        self.assertGreater(rows[spins.pid]["cpu_percent"], 10)
        self.assertGreater(rows[spins.pid]["rss_bytes"], 1 << 20)

    def test_by_a_pid_from_another_folder(self):
        process = self.start(WAITS)
        found, rows = self.top(str(process.pid), cwd="/")
        self.assertEqual((found["run"], list(rows)), (os.path.join(self.folder, "run"), [process.pid]))
        done = self.proftrace("top", str(os.getpid()), "--once")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is not traced", done.stderr)

    def test_once_is_a_page_of_text(self):
        process = self.start(WAITS)
        done = self.proftrace("top", "run", "--once", "-i", "1ms")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout.decode(), rf"\Arun: \d+ s, 1 of 1 processes run\n(?s:.*)\n *{process.pid}  python3 +")
        self.assertNotIn(b"\x1b", done.stdout)

    def test_it_shows_the_end_and_ends(self):
        process = self.start(WAITS)
        shown = subprocess.Popen([shutil.which("proftrace", path=os.path.dirname(LIBRARY)), "top", "run", "-i", "20ms"], cwd=self.folder, env=clean_environment(), stdout=subprocess.PIPE)
        self.addCleanup(shown.stdout.close)
        self.addCleanup(self.end, shown)
        self.assertIn(b"1 of 1 processes run", shown.stdout.readline())
        process.communicate(b"\n")
        pages = shown.communicate(timeout=60)[0]
        self.assertEqual(shown.returncode, 0)
        self.assertIn(b"0 of 1 processes run", pages)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_the_program_makes_no_system_call_for_it(self):
        log = os.path.join(self.folder, "calls")
        strace = self.start(SPINS, "strace", "-f", "-o", log)
        for pid in descendants_of(strace.pid):  # it would outlive strace, and nobody reads its output
            self.addCleanup(os.kill, pid, signal.SIGKILL)
        before, until = -1, time.monotonic() + 30
        while before != os.path.getsize(log) and time.monotonic() < until:
            before = os.path.getsize(log)
            time.sleep(0.3)
        found, _ = self.top()
        self.assertEqual(found["running"], 2, "strace itself, and the program")
        self.assertEqual(os.path.getsize(log), before)


if __name__ == "__main__":
    unittest.main()
