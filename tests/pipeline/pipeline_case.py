# SPDX-License-Identifier: MIT
"""What the pipeline's tests share: seven small stages, a folder and a TMPDIR per test, and the look at what was left.

Every process that a test starts has the test's folder in its environment (TMPDIR), so that none can hide.
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import jsonschema

BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build"))
PROFTRACE = os.path.join(BUILD, "proftrace")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OURS = ("PROFTRACE_", "ENABLE_PROFILING", "PROFILE_OUTPUT_DIR", "LD_PRELOAD", "GITHUB_", "NO_COLOR")
NAMES = ("fetch", "prepare", "check", "build", "train", "infer", "grade")
LATEST = "proftrace.data/latest"
SUMMARY_HEAD = "## Summary\n| Stage | Duration | CPU Avg | RAM Max | GPU Util | Status |\n|"

# A shell that starts tests in the background has them ignore Ctrl-C and Ctrl-\, and so would every program that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

with open(os.path.join(SOURCE, "docs", "report.schema.json"), encoding="utf-8") as _file:
    SCHEMA = json.load(_file)


def sh(script, **more):
    """A stage that is a shell script."""
    return {"cmd": ["sh", "-c", script], **more}


def python(script, *arguments, **more):
    return {"cmd": ["/usr/bin/python3", "-c", script, *arguments], **more}


def plain(name):
    """What a stage of seven() does when it is not told otherwise."""
    return sh(f"echo {name} out; echo {name} err >&2")


def seven(**changes):
    """Seven stages, some of them changed."""
    return [{"stage": name, **changes.get(name, plain(name))} for name in NAMES]


class Outcome:
    """How a run ended and what it said."""

    def __init__(self, code, stdout=b"", stderr=b""):
        self.code, self.stdout, self.stderr = code, stdout or b"", stderr or b""

    def __repr__(self):
        return f"code {self.code}, stdout {self.stdout[-2000:]!r}, stderr {self.stderr[-4000:]!r}"


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except OSError:
        return None


def is_alive(pid):
    return state_of(pid) not in (None, "Z", "X")


def wait_until(condition, seconds=60):
    """The first true answer, or the last one."""
    end = time.monotonic() + seconds
    while not (answer := condition()) and time.monotonic() < end:
        time.sleep(0.005)
    return answer


class PipelineCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="pipeline-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.work = os.path.join(self.folder, "work")
        self.temporary = os.path.join(self.folder, "tmp")
        os.mkdir(self.work)
        os.mkdir(self.temporary)
        self.addCleanup(self.end_all)

    def tearDown(self):
        self.assert_nothing_left()

    # ---- what is left ----

    def processes(self):
        """pid: command line of everything that was started with this test's TMPDIR."""
        found = {}
        wanted = f"TMPDIR={self.temporary}".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if wanted not in file.read().split(b"\0"):
                        continue
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    command = file.read().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if is_alive(pid):
                found[int(pid)] = command
        return found

    def assert_nothing_left(self, but=()):
        def strangers():
            return {pid: command for pid, command in self.processes().items() if pid not in but}
        self.assertTrue(wait_until(lambda: not strangers(), 60), f"still running: {strangers()}")
        self.assertEqual(os.listdir(self.temporary), [])

    def end_all(self):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    # ---- running ----

    def environment(self, **more):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
        environment.update({"TMPDIR": self.temporary, **more})
        return {k: v for k, v in environment.items() if v is not None}

    def write(self, name, content, mode=None):
        """A file in the work folder; its path."""
        path = os.path.join(self.work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        if mode is not None:
            os.chmod(path, mode)
        return path

    def read(self, name):
        with open(os.path.join(self.work, name), "rb") as file:
            return file.read()

    def configure(self, stages, **more):
        profile = {"interval_ms": 100, "stages": stages, **more.pop("profile", {})}
        return self.write("config.json", json.dumps({"profile": profile, **more}))

    def proftrace(self, *arguments, environment=None, **options):
        options.setdefault("capture_output", True)
        options.setdefault("cwd", self.work)
        options.setdefault("timeout", 100)
        options.setdefault("check", False)
        done = subprocess.run([PROFTRACE, *arguments], env=self.environment(**(environment or {})), **options)
        return Outcome(done.returncode, done.stdout, done.stderr)

    def pipeline(self, stages, *arguments, environment=None, config=None, **options):
        self.configure(stages, **(config or {}))
        return self.proftrace("pipeline", *arguments, environment=environment, **options)

    def start(self, stages, *arguments, environment=None, config=None, **options):
        """The pipeline as a process that goes on; pass its stdout and stderr or they are thrown away."""
        self.configure(stages, **(config or {}))
        for name in ("stdout", "stderr"):
            options.setdefault(name, subprocess.DEVNULL)
        process = subprocess.Popen([PROFTRACE, "pipeline", *arguments], cwd=options.pop("cwd", self.work),
                                   env=self.environment(**(environment or {})), **options)
        self.addCleanup(self.close, process)
        return process

    @staticmethod
    def close(process):
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def by_hand(self, stages, **options):
        """stdout and stderr of the stages, run one after another without us."""
        stdout = stderr = b""
        for stage in stages:
            done = subprocess.run(stage["cmd"], cwd=self.work, env=self.environment(), capture_output=True, check=False,
                                  **options)
            stdout, stderr = stdout + done.stdout, stderr + done.stderr
        return stdout, stderr

    # ---- what it says ----

    def record(self, run=LATEST):
        return json.loads(self.read(f"{run}/run.json"))

    def report(self, run=LATEST):
        """report.json, valid."""
        report = json.loads(self.read(f"{run}/report.json"), parse_constant=self.fail)
        jsonschema.validate(report, SCHEMA)
        return report

    def markdown(self, run=LATEST):
        return self.read(f"{run}/report.md").decode()

    def stage(self, name, run=LATEST):
        return next(stage for stage in self.report(run)["stages"] if stage["stage"] == name)

    def assert_stages(self, expected, run=LATEST):
        """Statuses by name, or (status, part of the reason); a stage that never began has no duration, another has one."""
        report = self.report(run)
        stages = {stage["stage"]: stage for stage in report["stages"]}
        self.assertEqual(list(stages), list(expected))
        for name, wanted in expected.items():
            status, reason = (wanted, None) if isinstance(wanted, str) else wanted
            stage = stages[name]
            self.assertEqual(stage["status"], status, f"{name}: {stage['reason']}")
            began = status != "skipped" and "cannot be run" not in (reason or "") and "cannot enter" not in (reason or "")
            self.assertEqual(stage["duration_s"] is not None, began, name)
            self.assertEqual(stage["reason"] is None, status == "ok", name)
            if reason:
                self.assertIn(reason, stage["reason"], name)
        return report

    def assert_markdown(self, run=LATEST):
        """The document's headings and columns, a row per stage."""
        text, report = self.markdown(run), self.report(run)
        self.assertTrue(text.startswith("# Pipeline Profile Report\n"), text[:200])
        self.assertIn(SUMMARY_HEAD, text)
        self.assertIn("\n## Quality\n- Grade", text)
        table = text.split(SUMMARY_HEAD)[1].split("\n\n")[0].splitlines()[1:]
        self.assertEqual(len(table), len(report["stages"]), table)
        for row, stage in zip(table, report["stages"]):
            self.assertTrue(row.endswith(f"| {stage['status']} |"), row)
        return text

    def assert_one_line(self, outcome, *parts):
        """Exit code 2, nothing on stdout, one clear line, nothing was run and nothing was made."""
        self.assertEqual(outcome.code, 2, outcome)
        self.assertEqual(outcome.stdout, b"", outcome)
        lines = outcome.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("proftrace pipeline: "), lines)
        for part in parts:
            self.assertIn(part, lines[0])
        self.assertFalse(os.path.exists(os.path.join(self.work, "ran")))
