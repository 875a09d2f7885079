# SPDX-License-Identifier: MIT
"""A command that does not go on: its stacks are kept before it is ended for its timeout, and when nothing has moved for --stall seconds."""
import json
import os
import re
import stat
import sys
import unittest

from launcher_case import LauncherCase

DEADLOCK = """
import threading, time
a, b = threading.Lock(), threading.Lock()
def first():
    with a:
        time.sleep(0.3)
        with b: pass
def second():
    with b:
        time.sleep(0.3)
        with a: pass
threads = [threading.Thread(target=f, daemon=True) for f in (first, second)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
PAUSES = """
import time
def rest(): time.sleep(2.5)
def work():
    end = time.monotonic() + 0.7
    while time.monotonic() < end: pass
rest(); work(); rest()
print("done")
"""


class Stuck(LauncherCase):
    def path(self, name):
        return os.path.join(self.folder, name)

    def write_program(self, text):
        with open(self.path("program.py"), "w", encoding="utf-8") as file:
            file.write(text)

    def run_command(self, *command, **environment):
        return self.proftrace(*command, environment=environment, text=True)

    def stacks(self, run):
        with open(f"{run}/stacks.txt", encoding="utf-8") as file:
            return file.read()

    def report(self, run):
        return json.loads(self.run_command("report", "--format", "json", run).stdout)

    def test_a_stage_that_runs_into_its_timeout(self):
        self.write_program(DEADLOCK)
        with open(self.path("config.json"), "w", encoding="utf-8") as file:
            json.dump({"profile": {"stages": [{"stage": "train", "cmd": ["sh", "-c", f"{sys.executable} program.py; true"], "timeout_s": 2.5}]}}, file)
        done = self.run_command("pipeline", "--config", "config.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        run = os.path.realpath(self.path("proftrace.data/latest"))
        stacks = self.stacks(run)
        self.assertRegex(stacks, r"^== \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, stage train: still running after 2\.50 s\n")
        for function, line in ("first", 7), ("second", 11), ("<module>", 14):
            self.assertRegex(stacks, rf"{function}  \S+/program\.py:{line}  \(Python\)")
        self.assertEqual(stat.S_IMODE(os.stat(f"{run}/stacks.txt").st_mode), 0o600)
        # The report says it where one looks first: why the stage failed, and what to look at.
        report = self.report(run)
        said = (r"deadlock: these threads wait only for one another: \d+ in <module> \(program\.py:14\) wants a thread to end: waits for a semaphore at \S+; "
                r"\d+ in first \(program\.py:7\) waits for a semaphore at \S+; \d+ in second \(program\.py:11\) waits for a semaphore at \S+")
        self.assertRegex(report["stages"][0]["reason"], rf"^still running after 2\.50 s: it was ended(; until they were gone it took another [\d.]+ m?s)?; {said}$")
        self.assertEqual([finding["rule"] for finding in report["findings"]][:1], ["stage_stuck"])
        self.assertRegex(report["findings"][0]["evidence"]["where"], said)
        self.assertRegex(done.stderr, rf"(?m)^proftrace: train: still running after 2\.50 s: .*{said}$")

    def test_nothing_moves_and_then_it_does(self):
        self.write_program(PAUSES)
        done = self.run_command("run", "--stall", "1", "--interval", "100", "-o", "run", "--", sys.executable, "program.py")
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
        # Both pauses are looked at, once each, and the work between them is not; the same reason is told once.
        self.assertEqual(len(re.findall(r"nothing has moved for 1\.00 s: process \d+ .*program\.py sleeps? .*rest \(program\.py:3\)", done.stderr)), 1, done.stderr)
        self.assertEqual(self.stacks(self.path("run")).count("\n== ") + 1, 2)
        self.assertEqual(self.report("run")["stages"][0]["status"], "ok")

    def test_who_is_missing_among_processes(self):
        """Ranks that wait for one that comes late: told by where they are."""
        self.write_program("""
import os, socket, time
a, b = socket.socketpair()
def work(rank):
    for i in range(300): os.stat("/")  # an event or two, after which it is known where its interpreter is
    if rank == 2:
        time.sleep(4)
        a.send(b"12")
    else: b.recv(1)
    os._exit(0)
for rank in range(3):
    if not os.fork():
        work(rank)
while True: time.sleep(0.05) if os.waitpid(-1, os.WNOHANG)[0] == 0 else os._exit(0)
""")
        done = self.run_command("run", "--stall", "1", "--interval", "100", "-o", "run", "--", sys.executable, "program.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"nothing has moved for 1\.00 s: process \d+ .* in <module> \(program\.py:14\); other processes: ")
        self.assertRegex(done.stderr, r"2 in work \(program\.py:9\)")
        self.assertRegex(done.stderr, r"1 in work \(program\.py:7\)")

    def test_who_computes_is_not_stuck(self):
        done = self.run_command("run", "--stall", "1", "--interval", "100", "-o", "run", "--", sys.executable, "-c", "import time\nwhile time.process_time() < 2.5: pass")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("moved", done.stderr)
        self.assertFalse(os.path.exists(self.path("run/stacks.txt")))
        self.assertNotIn("stage_stuck", [finding["rule"] for finding in self.report("run")["findings"]])

    def test_nobody_asked(self):
        self.run_command("run", "-o", "run", "--", "sleep", "2")
        self.assertFalse(os.path.exists(self.path("run/stacks.txt")))

    def test_quiet(self):
        done = self.run_command("run", "--stall", "1", "-o", "run", "--", "sleep", "2.5", PROFTRACE_QUIET="1")
        self.assertEqual(done.stderr, "")
        self.assertIn("process", self.stacks(self.path("run")))


if __name__ == "__main__":
    unittest.main()
