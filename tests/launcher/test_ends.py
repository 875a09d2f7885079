# SPDX-License-Identifier: MIT
"""Processes that could not note their end: it lies where the test, which killed them, saw it, or the report says between which
instants it does. A run that still goes on is running, not failed, and lasts until the report."""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from launcher_case import LIBRARY, PROFTRACE, LauncherCase, clean_environment

SLACK_S = 0.25  # of what is timed on two clocks of a busy machine: bounds below are wider by that, never narrower

# Calls for 0.1 s, says that it waits, and waits in one call.
WAITS = "import os, time; time.sleep(0.1); os.write(1, b'waits\\n'); time.sleep(60)"
# The same in a child, which the parent waits for; argument: how.
PARENT = """
import os, sys, time
pid = os.fork()
if not pid:
    %s
if sys.argv[1] == "late":
    sys.stdin.readline()
    os.waitpid(pid, 0)
elif sys.argv[1] == "polls":
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        time.sleep(0.02)
else:
    os.waitpid(pid, 0)
""" % WAITS


class EndsCase(LauncherCase):
    def report(self, run="proftrace.data/latest"):
        shown = self.proftrace("report", run, "--format", "json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return json.loads(shown.stdout)

    def texts(self, run="proftrace.data/latest"):
        return {form: self.proftrace("report", run, "--format", form).stdout.decode() for form in ("text", "md", "html")}

    def start_bare(self, *command, **options):
        process = subprocess.Popen(command, cwd=self.folder, env=clean_environment(LD_PRELOAD=LIBRARY), stdout=subprocess.PIPE,
                                   **options)
        self.addCleanup(self.end, process)
        return process

    def assert_between(self, value, low, high):
        self.assertGreaterEqual(value, low - SLACK_S)
        self.assertLessEqual(value, high + SLACK_S)


class Ends(EndsCase):
    def child_killed(self, how, number, launcher=False):
        """The report's row of a child that the test killed, and after how many seconds of its life it did at least and at most."""
        begin = time.monotonic()
        command = [sys.executable, "-c", PARENT, how]
        process = (self.start_it(*command, stdin=-1, stdout=-1, stderr=-1) if launcher else self.start_bare(*command, stdin=-1))
        self.assertEqual(process.stdout.readline(), b"waits\n")
        waits = time.monotonic()
        time.sleep(0.7)
        pid = self.wait_for(lambda: self.youngest(process.pid))
        os.kill(pid, number)
        killed = time.monotonic()
        time.sleep(0.5 if how == "late" else 0)
        process.communicate(b"\n", timeout=20)
        row = next(p for p in self.report()["processes"] if p["pid"] == pid)
        self.lived_s = waits - begin  # until it said so
        return row, killed - waits, killed - begin

    def youngest(self, parent):
        try:
            with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
                children = file.read().split()
        except OSError:
            return None
        return (self.youngest(int(children[-1])) or int(children[-1])) if children else None

    def test_child_by_its_parents_wait(self):
        for how in ("waits", "polls"):
            row, least, most = self.child_killed(how, signal.SIGKILL)
            self.assert_between(row["duration_s"], least, most)
            self.assertEqual(row["exit"], "signal 9 (SIGKILL)")

    def test_child_whose_parent_looks_late(self):
        row, least, most = self.child_killed("late", signal.SIGSEGV)
        self.assertEqual(row["exit"], "signal 11 (SIGSEGV)")
        low, high = row["duration_s_interval"]
        self.assertLessEqual(low, most)
        self.assertGreaterEqual(high + SLACK_S, least)
        self.assertLess(row["duration_s"], self.lived_s + SLACK_S)  # its last sign of life

    def test_child_by_the_launcher(self):
        row, least, most = self.child_killed("late", signal.SIGKILL, launcher=True)
        self.assert_between(row["duration_s"], least, most)
        self.assertNotIn("duration_s_interval", row)

    def test_root_by_the_launcher(self):
        process = self.start_it(sys.executable, "-c", WAITS, stdout=-1, stderr=-1)
        process.stdout.readline()
        waits = time.monotonic()
        time.sleep(0.7)
        os.kill(self.wait_for(lambda: self.youngest(process.pid)), signal.SIGKILL)
        killed = time.monotonic()
        self.assertEqual(process.wait(20), -signal.SIGKILL)
        said = process.stderr.read().decode()
        report = self.report()
        stage, root = report["stages"][0], report["processes"][0]
        self.assertGreaterEqual(root["duration_s"], killed - waits)
        self.assertLessEqual(root["duration_s"], stage["duration_s"] + 1e-3)
        self.assertEqual((stage["status"], stage["exit"], root["exit"]), ("failed", "signal 9 (SIGKILL)", "signal 9 (SIGKILL)"))
        parts = dict(stage["time"])
        wall_s, computing_s = parts.pop("wall_s"), parts.pop("computing_s")
        if parts["python_s"] is None:
            parts["python_s"] = computing_s
        self.assertAlmostEqual(sum(v for k, v in parts.items() if k.endswith("_s") and v), wall_s, delta=1e-3)
        for form, text in self.texts().items():
            self.assertTrue("SIGKILL" in text, form)
        self.assertIn("SIGKILL", said)

    def test_root_without_the_launcher(self):
        process = self.start_bare(sys.executable, "-c", WAITS)
        process.stdout.readline()
        time.sleep(0.7)
        process.kill()
        process.wait()
        report = self.report()
        stage, root = report["stages"][0], report["processes"][0]
        self.assertIsNone(root["duration_s_interval"][1])
        self.assertAlmostEqual(root["duration_s_interval"][0], root["duration_s"], delta=1e-6)
        self.assertIn("or later", stage["reason"])
        self.assertEqual(stage["status"], "failed")
        self.assertIn("or later", " ".join(self.texts()["text"].split()))

    def test_root_and_its_launcher(self):
        """As where a job is killed, or memory ran out: what the launcher wrote was at the start of the stage."""
        process = self.start_it(sys.executable, "-c", WAITS, stdout=-1, stderr=-1)
        process.stdout.readline()
        waits = time.monotonic()
        root = self.wait_for(lambda: self.youngest(process.pid))
        process.kill()
        process.wait()
        time.sleep(1)
        os.kill(root, signal.SIGKILL)
        self.assertTrue(self.has_ended(root))
        killed = time.monotonic()
        report = self.report()
        stage = report["stages"][0]
        self.assertEqual(stage["status"], "failed")
        self.assert_between(stage["duration_s"], 0.1, killed - waits + 0.1)
        self.assertAlmostEqual(stage["duration_s"], report["total_duration_s"], delta=0.05)
        self.assertAlmostEqual(stage["time"]["wall_s"], stage["duration_s"], delta=1e-6)

    def test_call_that_had_ended(self):
        """The end of the last call, not its start: a read of seconds, then SIGKILL at once."""
        program = "import os, signal; os.read(0, 1); os.kill(os.getpid(), signal.SIGKILL)"
        process = self.start_bare(sys.executable, "-c", program, stdin=-1)
        time.sleep(4)
        process.communicate(b"x", timeout=20)
        self.assertGreater(self.report()["processes"][0]["duration_s"], 1)


class Deaths(EndsCase):
    """A crash is a finding, with what the process did last; how programs end their helpers is none."""

    def findings(self, program, launcher):
        path = os.path.join(self.folder, "data")
        with open(path, "wb") as file:
            file.write(b"x" * 4096)
        if launcher:
            self.run_it(sys.executable, "-c", program, path)
        else:
            self.start_bare(sys.executable, "-c", program, path, stderr=subprocess.DEVNULL).communicate(timeout=20)
        return [finding for finding in self.report()["findings"] if finding["rule"] == "died_by_signal"]

    def test_a_child_that_aborts(self):
        program = """
import os, sys
pid = os.fork()
if not pid:
    fd = os.open(sys.argv[1], os.O_RDONLY)
    os.pread(fd, 100, 0)
    os.abort()
os.waitpid(pid, 0)
"""
        for launcher in (False, True):
            finding, = self.findings(program, launcher)
            self.assertIn("died: signal 6 (SIGABRT)", finding["title"])
            row, = finding["evidence"]["deaths"]
            self.assertEqual(row["exit"], "signal 6 (SIGABRT)")
            self.assertIn("io_pread " + os.path.join(self.folder, "data"), row["last_calls"])
            self.assertEqual(finding, self.report()["findings"][0])
            shown = " ".join(self.proftrace("report", "--finding", "1").stdout.decode().split())
            self.assertIn("SIGABRT", shown)
            self.assertIn("io_pread", shown)

    def test_a_child_whose_status_nobody_wants(self):
        """wait(NULL) and its relatives: the hook has the kernel tell it, and the caller gets what it would get."""
        for call in ("waitpid(pid, None, 0)", "wait(None)", "wait3(None, 0, None)", "wait4(pid, None, 0, None)", "waitid(1, pid, None, 4)"):
            program = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
pid = os.fork()
if not pid:
    os.kill(os.getpid(), 11)
ctypes.set_errno(33)
assert libc.{call} == {0 if "waitid" in call else "pid"}
assert ctypes.get_errno() == 33
assert (libc.waitpid(-1, None, 0), ctypes.get_errno()) == (-1, 10)
pid = os.fork()
if not pid:
    os._exit(0)
assert (libc.waitpid(pid, ctypes.c_void_p(8), 0), ctypes.get_errno()) == (-1, 14), "a bad pointer stays bad"
"""
            finding, = self.findings(program, False)
            self.assertEqual([row["exit"] for row in finding["evidence"]["deaths"]], ["signal 11 (SIGSEGV)"], call)

    def test_helpers_that_are_ended(self):
        program = """
import os, signal, time
for number in (signal.SIGTERM, signal.SIGKILL):
    pid = os.fork()
    if not pid:
        time.sleep(60)
    os.kill(pid, number)
    os.waitpid(pid, 0)
"""
        for launcher in (False, True):
            self.assertEqual(self.findings(program, launcher), [])


class Running(EndsCase):
    def is_running(self, stage, least, most):
        self.assertEqual(stage["status"], "running")
        self.assertIsNone(stage["exit"])
        self.assertIn("still running", stage["reason"])
        self.assert_between(stage["duration_s"], least, most)

    def check_running(self, process, begin):
        process.stdout.readline()
        waits = time.monotonic()
        time.sleep(0.7)
        least = time.monotonic() - waits
        report = self.report()
        self.is_running(report["stages"][0], least, time.monotonic() - begin)
        self.assert_between(report["total_duration_s"], least, time.monotonic() - begin)
        for form, text in self.texts().items():
            self.assertTrue("running" in text, form)
            self.assertFalse("failed" in (text.partition("</head>")[2] or text), form)
        full = self.proftrace("report", "proftrace.data/latest", "--full").stdout.decode()
        return report, full

    def test_run(self):
        begin = time.monotonic()
        process = self.start_it(sys.executable, "-c", WAITS, stdout=-1, stderr=-1)
        report, full = self.check_running(process, begin)
        for demand in ("profile of proftrace run", "command with proftrace run", "start it with proftrace run"):
            self.assertFalse(demand in (json.dumps(report) + full), demand)
        process.terminate()
        process.wait(20)
        self.assertEqual(self.report()["stages"][0]["status"], "failed")

    def test_bare(self):
        begin = time.monotonic()
        process = self.start_bare(sys.executable, "-c", WAITS)
        self.check_running(process, begin)

    def test_pipeline(self):
        with open(os.path.join(self.folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump({"profile": {"stages": [{"stage": "a", "cmd": ["true"]},
                                              {"stage": "b", "cmd": [sys.executable, "-c", WAITS]}]}}, file)
        begin = time.monotonic()
        process = subprocess.Popen([PROFTRACE, "pipeline", "--config", "config.json"], cwd=self.folder,
                                   env=clean_environment(), stdout=-1, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, process)
        process.stdout.readline()
        waits = time.monotonic()
        time.sleep(1)
        least = time.monotonic() - waits
        stages = self.report()["stages"]
        self.assertEqual(stages[0]["status"], "ok")
        self.is_running(stages[1], least, time.monotonic() - begin)
        process.terminate()
        process.wait(20)


if __name__ == "__main__":
    unittest.main()
