# SPDX-License-Identifier: MIT
"""Somebody asks for an end: at any moment, in any way, once or twice. Always the report, never a trace of us.

--slow tries every system call of a run instead of some.
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

from pipeline_case import LATEST, NAMES, PROFTRACE, Outcome, PipelineCase, python, seven, sh, wait_until

SLOW = "--slow" in sys.argv
RANDOM_MOMENTS = 300 if SLOW else 26
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

# Two generations that do not listen, the second in a session of its own.
DEAF = """
import os, signal, time
for number in (1, 2, 3, 15):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("deaf", "w").write("ready")
time.sleep(60)
"""


class InterruptCase(PipelineCase):
    def assert_interrupted(self, code, number, must_report=True):
        """Death by the signal, and a report in which the stages are ok, then one was interrupted, then none ran."""
        self.assertEqual(code, -number)
        self.assert_nothing_left()
        runs = os.listdir(os.path.join(self.work, "proftrace.data")) if os.path.isdir(self.work + "/proftrace.data") else []
        if not runs and not must_report:
            return None
        report = self.report()
        left = [name for name in os.listdir(os.path.join(self.work, LATEST)) if name.endswith((".part", ".new"))]
        self.assertEqual(left, [])
        statuses = [stage["status"] for stage in report["stages"]]
        self.assertEqual(len(statuses), 7)
        n_ok = next((i for i, status in enumerate(statuses) if status != "ok"), 7)
        rest = report["stages"][n_ok:]
        if rest and rest[0]["status"] == "failed":
            self.assertIn(f"interrupted ({signal.Signals(number).name})", rest.pop(0)["reason"])
        for stage in rest:
            self.assertEqual(stage["status"], "skipped")
            self.assertIn(f"interrupted ({signal.Signals(number).name})", stage["reason"])
            self.assertIsNone(stage["duration_s"])
        return report

    def forget_runs(self):
        shutil.rmtree(os.path.join(self.work, "proftrace.data"), ignore_errors=True)


class Interrupts(InterruptCase):
    def interrupt(self, build, ready, send, **options):
        """Run until the file `ready` is there in the stage build, call send(process)."""
        process = self.start(seven(build=build), start_new_session=True, **options)
        self.assertTrue(wait_until(lambda: os.path.exists(os.path.join(self.work, ready))))
        send(process)
        return process.wait(60)

    def assert_build_interrupted(self, number, more=""):
        name = signal.Signals(number).name
        self.assert_stages({**{n: "ok" for n in NAMES[:3]}, "build": ("failed", f"interrupted ({name}): it was ended{more}"),
                            **{n: ("skipped", f"interrupted ({name})") for n in NAMES[4:]}})
        self.assert_markdown()

    def test_each_signal_to_us_alone(self):
        for number in SIGNALS:
            with self.subTest(number.name):
                code = self.interrupt(sh("ulimit -c 0; echo > ready; sleep 60"), "ready", lambda p: p.send_signal(number))
                self.assert_interrupted(code, number)
                self.assert_build_interrupted(number)
                os.unlink(os.path.join(self.work, "ready"))

    def test_each_signal_to_the_group(self):
        for number in SIGNALS:
            with self.subTest(number.name):
                code = self.interrupt(sh("ulimit -c 0; echo > ready; sleep 60"), "ready", lambda p: os.killpg(p.pid, number))
                self.assert_interrupted(code, number)
                self.assert_build_interrupted(number)
                os.unlink(os.path.join(self.work, "ready"))

    def test_the_stage_cleans_up(self):
        code = self.interrupt(sh("trap 'sleep 0.5; echo cleaned; exit 0' INT; echo > ready; while :; do sleep 0.1; done"),
                              "ready", lambda p: p.send_signal(signal.SIGINT))
        self.assert_interrupted(code, signal.SIGINT)
        self.assert_build_interrupted(signal.SIGINT)
        self.assertEqual(self.read(f"{LATEST}/logs/build.log"), b"cleaned\n")

    def test_deaf_ones_are_killed(self):
        code = self.interrupt(python(DEAF), "deaf", lambda p: os.killpg(p.pid, signal.SIGINT))
        self.assert_interrupted(code, signal.SIGINT)
        self.assert_build_interrupted(signal.SIGINT, "; not all of its processes ended when asked, and were killed")

    def test_twice_is_at_once(self):
        took = None

        def twice(process):
            nonlocal took
            begin = time.monotonic()
            os.killpg(process.pid, signal.SIGINT)
            # Two that come at once are one; one that meets the writing of the reports would end it.
            while process.poll() is None and any(" -c " in command for command in self.processes().values()):
                time.sleep(0.2)
                os.killpg(process.pid, signal.SIGINT)
            took = time.monotonic() - begin
        code = self.interrupt(python(DEAF), "deaf", twice)
        self.assertLess(took, 4.5)
        self.assert_interrupted(code, signal.SIGINT)
        self.assert_build_interrupted(signal.SIGINT, "; not all of its processes ended when asked, and were killed")

    def test_during_the_end_of_a_timeout(self):
        def send(process):
            time.sleep(2.5)  # the two seconds are over, the grace that deaf ones get is not
            process.send_signal(signal.SIGTERM)
        code = self.interrupt(python(DEAF, timeout_s=2), "deaf", send)
        self.assertEqual(code, -signal.SIGTERM)
        self.assert_stages({**{n: "ok" for n in NAMES[:3]}, "build": "timeout",
                            **{n: ("skipped", "interrupted (SIGTERM)") for n in NAMES[4:]}})

    def test_a_flood(self):
        def flood(process):
            for _ in range(200):
                process.send_signal(signal.SIGINT)
                time.sleep(0.0002)
        code = self.interrupt(python(DEAF), "deaf", flood)
        self.assertEqual(code, -signal.SIGINT)
        self.assert_nothing_left()

    def test_what_nohup_ignores(self):
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        code = self.interrupt(sh("echo > ready; sleep 1; echo survived"), "ready",
                              lambda p: os.killpg(p.pid, signal.SIGHUP), preexec_fn=ignore)
        self.assertEqual(code, 0)
        self.assert_stages({name: "ok" for name in NAMES})

    def test_before_anything(self):
        def pending():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            os.kill(os.getpid(), signal.SIGINT)
        process = self.start(seven(), preexec_fn=pending)
        report = self.assert_interrupted(process.wait(30), signal.SIGINT)
        self.assertEqual({stage["status"] for stage in report["stages"]}, {"skipped"})
        self.assert_markdown()

    def test_it_is_said_while_reports_are_written(self):
        if not shutil.which("strace"):
            self.skipTest("no strace")
        stages = [{"stage": name, **sh("sleep 0.4" if name == NAMES[0] else ":")} for name in NAMES]
        outcome = self.injected("wait4", len(NAMES) + 2, stages)  # for who writes them, after the stages and what watches signals
        self.assertIn(b"the reports are being written; once more ends that", outcome.stderr)
        self.assertIn(b"\nSummary\n", outcome.stderr)
        report = self.assert_interrupted(outcome.code, signal.SIGINT)
        self.assertEqual({stage["status"] for stage in report["stages"]}, {"ok"})

    def injected(self, call, when, stages=None):
        """SIGINT in the n-th of our own such calls."""
        self.configure(stages or [{"stage": name, **sh(":")} for name in NAMES])
        # LeakSanitizer cannot work under ptrace.
        done = subprocess.run(["strace", "-E", "ASAN_OPTIONS=detect_leaks=0", "-o", os.devnull, "-e", f"trace={call}", "-e",
                               f"inject={call}:signal=SIGINT:when={when}", PROFTRACE, "pipeline", "--no-gpu-sampling"],
                              cwd=self.work, env=self.environment(), capture_output=True, check=False, timeout=200)
        return Outcome(done.returncode, done.stdout, done.stderr)

    def test_in_each_call_that_makes_or_removes(self):
        if not shutil.which("strace"):
            self.skipTest("no strace")
        for call, step in (("mkdir", 1), ("mkdirat", 1), ("renameat", 5), ("rename", 2), ("rmdir", 1), ("unlink", 1),
                           ("unlinkat", 7), ("symlinkat", 1), ("clone", 2), ("pipe2", 5), ("openat", 151)):
            for when in range(1, 2000, 1 if SLOW else step):
                with self.subTest(f"{call} {when}"):
                    self.forget_runs()
                    outcome = self.injected(call, when)
                    if outcome.code != -signal.SIGINT:
                        self.assertEqual(outcome.code, 0, outcome)
                        break  # there are fewer of them
                    self.assert_interrupted(outcome.code, signal.SIGINT, must_report=False)

    def test_at_random_moments(self):
        stages = [{"stage": name, **sh("echo out; sleep 0.02")} for name in NAMES]
        lengths = []
        for _ in range(3):
            begin = time.monotonic()
            self.assertEqual(self.pipeline(stages).code, 0)
            lengths.append(time.monotonic() - begin)
        chance = random.Random(7)
        met = set()
        for i in range(RANDOM_MOMENTS):
            number = SIGNALS[i % 3]
            self.forget_runs()
            process = self.start(stages, start_new_session=True)
            time.sleep(chance.random() * min(lengths) * 1.1)
            with self.subTest(f"{i}: {number.name}"):
                try:
                    (os.killpg if i % 2 else os.kill)(process.pid, number)
                except ProcessLookupError:
                    pass
                code = process.wait(30)
                if code == 0:
                    continue  # too late
                report = self.assert_interrupted(code, number, must_report=False)
                if report:
                    met.update(stage["status"] for stage in report["stages"])
        self.assertIn("skipped", met)


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--slow"]
    unittest.main()
