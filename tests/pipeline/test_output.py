# SPDX-License-Identifier: MIT
"""What stages write arrives untouched: compared with the same stages run by hand."""
import hashlib
import os
import pty
import select
import signal
import subprocess
import tty
import unittest

from pipeline_case import LATEST, NAMES, PROFTRACE, PipelineCase, plain, python, seven, sh, wait_until

# Every byte there is, no newline at the end, many small pieces on both.
BYTES = """
import os
for i in range(40):
    os.write(1, bytes(range(256)) * 7 + b"out %d" % i)
    os.write(2, b"\\x1b[31merr\\xff %d\\r\\n" % i)
"""
QUIET = {"PROFTRACE_QUIET": "1"}


class Untouched(PipelineCase):
    STAGES = seven(check=python(BYTES), build=sh("printf 'no newline'; printf '\\0\\0' >&2"), infer=sh("cat config.json"))

    def test_two_pipes(self):
        self.configure(self.STAGES)
        stdout, stderr = self.by_hand(self.STAGES)
        outcome = self.pipeline(self.STAGES, environment=QUIET)
        self.assertEqual(outcome.code, 0)
        self.assertEqual(outcome.stdout, stdout)
        self.assertEqual(outcome.stderr, stderr)

    def test_two_files(self):
        self.configure(self.STAGES)
        stdout, stderr = self.by_hand(self.STAGES)
        with open(self.folder + "/out", "wb") as out, open(self.folder + "/err", "wb") as err:
            self.pipeline(self.STAGES, environment=QUIET, capture_output=False, stdout=out, stderr=err)
        self.assertEqual(self.read(self.folder + "/out"), stdout)
        self.assertEqual(self.read(self.folder + "/err"), stderr)

    def test_one_file_for_both_keeps_the_order(self):
        self.configure(self.STAGES)
        with open(self.folder + "/by-hand", "wb") as both:
            for stage in self.STAGES:
                subprocess.run(stage["cmd"], cwd=self.work, stdout=both, stderr=both, check=True)
        with open(self.folder + "/both", "wb") as both:
            self.pipeline(self.STAGES, environment=QUIET, capture_output=False, stdout=both, stderr=both)
        self.assertEqual(self.read(self.folder + "/both"), self.read(self.folder + "/by-hand"))
        logs = b"".join(self.read(f"{LATEST}/logs/{name}.log") for name in NAMES)
        self.assertEqual(logs, self.read(self.folder + "/by-hand"))

    def test_appended_to_a_file(self):
        self.write(self.folder + "/log", "before\n")
        with open(self.folder + "/log", "ab") as log:
            self.pipeline(seven(), environment=QUIET, capture_output=False, stdout=log, stderr=log)
        self.assertEqual(self.read(self.folder + "/log"),
                         b"before\n" + b"".join(f"{name} out\n{name} err\n".encode() for name in NAMES))

    def test_closed(self):
        for closed in ("<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed):
                self.configure(seven())
                done = subprocess.run(["sh", "-c", f"exec {PROFTRACE} pipeline {closed}"], cwd=self.work, check=False,
                                      env=self.environment(), capture_output=True, timeout=60)
                by_hand = subprocess.run(["sh", "-c", f"exec sh -c '{plain('fetch')['cmd'][2]}' {closed}"], check=False,
                                         capture_output=True)
                # What is closed is closed in the stage, too: what it writes there is an error of its own.
                fine = by_hand.returncode == 0
                self.assertEqual(done.returncode, 0 if fine else 1, done)
                self.assertTrue(done.stdout.startswith(by_hand.stdout), done)
                self.assertEqual(self.stage("fetch")["status"], "ok" if fine else "failed")
                self.assert_markdown()

    def test_nobody_reads(self):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            outcome = self.pipeline(seven(build=sh("seq 1 100000")), capture_output=False, stdout=writing,
                                    stderr=subprocess.PIPE)
        finally:
            os.close(writing)
        # As a stage would see it in a pipe to nobody, or not at all: but the run is complete and says so.
        self.assertIn(outcome.code, (0, 1), outcome)
        report = self.report()
        self.assertEqual(len(report["stages"]), 7)
        self.assertIn("could not be written any more", " ".join(report["trace_quality"]["notes"]))
        self.assertEqual(self.read(f"{LATEST}/logs/build.log").splitlines()[-1], b"100000")

    def test_200_megabytes(self):
        script = "import os\npiece = bytes(range(256)) * 4096\nfor i in range(200): os.write(1, piece) == len(piece) or 1 / 0"
        with subprocess.Popen(["sha256sum"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as sums:
            self.pipeline(seven(build=python(script), **{n: sh(":") for n in NAMES if n != "build"}), environment=QUIET,
                          capture_output=False, stdout=sums.stdin)
            sums.stdin.close()
            seen = sums.stdout.read().split()[0].decode()
        wanted = hashlib.sha256()
        for _ in range(200):
            wanted.update(bytes(range(256)) * 4096)
        self.assertEqual(seen, wanted.hexdigest())
        with open(os.path.join(self.work, LATEST, "logs/build.log"), "rb") as log:
            self.assertEqual(hashlib.file_digest(log, "sha256").hexdigest(), wanted.hexdigest())
        self.assert_stages({name: "ok" for name in NAMES})


class Findings(PipelineCase):
    def test_each_names_its_stage(self):
        """Two stages with the same trouble are two lines that differ."""
        outcome = self.pipeline([{"stage": name, **sh("sleep 0.6")} for name in ("one", "t\u202ewo")])
        lines = [line.strip() for line in outcome.stderr.decode().splitlines() if line.startswith("  ")]
        for name in ("one", "t\\u{202e}wo"):
            self.assertTrue(any(f"  {name}: The main thread sleeps" in line for line in lines), lines)


class Terminal(PipelineCase):
    """The pipeline as the foreground job of a terminal of its own."""

    def on_terminal(self, argv, **environment):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execve(argv[0], argv, self.environment(TERM="xterm", **environment))
        self.addCleanup(os.close, terminal)
        return pid, terminal

    @staticmethod
    def read_until(terminal, word, text=b""):
        def more():
            nonlocal text
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    text += os.read(terminal, 65536)
                except OSError:
                    return True
            return word in text
        wait_until(more, 60)
        return text

    def read_all(self, terminal):
        return self.read_until(terminal, b"\0never\0")

    def end_of(self, pid):
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_bytes(self):
        stages = seven(check=python(BYTES), build=sh("test -t 1 && test -t 2 && echo a terminal"))
        self.configure(stages)
        pid, terminal = self.on_terminal([PROFTRACE, "pipeline"], **QUIET)
        tty.setraw(terminal)  # changes nothing that is written, from here on
        seen = self.read_all(terminal)
        self.assertEqual(self.end_of(pid), 0)
        wanted = b""
        for stage in stages:
            done = subprocess.run(stage["cmd"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            wanted += b"a terminal\n" if stage["stage"] == "build" else done.stdout
        self.assertEqual(seen.replace(b"\r\n", b"\n"), wanted.replace(b"\r\n", b"\n"))

    def test_live_line_and_its_end(self):
        self.configure(seven(build=sh("sleep 3")))
        pid, terminal = self.on_terminal([PROFTRACE, "pipeline"])
        seen = self.read_all(terminal)
        self.assertEqual(self.end_of(pid), 0)
        self.assertIn(b"4/7 build", seen)
        for name in NAMES:
            self.assertIn(f"{name} out".encode() if name != "build" else b"build", seen)

    def test_why_a_stage_failed(self):
        """The reason, the last lines, where the rest is; of a skipped stage, why."""
        lines = "".join(f"line {i}\n" for i in range(30)) + "\x1b[2Jlast words\n"
        self.write("lines", lines)
        self.configure([{"stage": "fetch", "skip": "there already"}, {"stage": "build", **sh("cat lines; exit 3")}, {"stage": "train", **sh(":")}])
        pid, terminal = self.on_terminal([PROFTRACE, "pipeline"], NO_COLOR="1")
        seen = self.read_all(terminal).decode().replace("\r\n", "\n")
        self.assertEqual(self.end_of(pid), 1)
        shown = seen.split("\nFailures\n")[1]
        head, log, *tail = shown.splitlines()
        self.assertEqual(head.split(), ["1", "build", "exit", "3"])
        self.assertEqual(log.split()[0], "log")
        self.assertEqual(self.read(log.split()[1]).decode(), lines)
        self.assertEqual(tail[:20], [f"    | line {i}" for i in range(11, 30)] + ["    | \\x1b[2Jlast words"])
        skipped = shown.split("\nSkipped\n")[1].splitlines()
        self.assertEqual([line.split(maxsplit=1) for line in skipped[:3]],
                         [["Stage", "Why"], ["fetch", "there already"], ["train", "stage 'build' failed"]])

    def test_control_c(self):
        self.configure(seven(build=sh("echo ready; sleep 60")))
        pid, terminal = self.on_terminal([PROFTRACE, "pipeline"])
        self.read_until(terminal, b"ready")
        os.write(terminal, b"\x03")
        self.read_all(terminal)
        self.assertEqual(self.end_of(pid), -signal.SIGINT)
        self.assert_stages({**{n: "ok" for n in NAMES[:3]}, "build": ("failed", "interrupted (SIGINT)"),
                            **{n: ("skipped", "interrupted (SIGINT)") for n in NAMES[4:]}})

    def test_the_terminal_goes_away(self):
        self.configure(seven(build=sh("echo ready; sleep 60")))
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execve(PROFTRACE, [PROFTRACE, "pipeline"], self.environment(TERM="xterm"))
        self.read_until(terminal, b"ready")
        os.close(terminal)
        self.assertEqual(self.end_of(pid), -signal.SIGHUP)
        self.assert_stages({**{n: "ok" for n in NAMES[:3]}, "build": ("failed", "interrupted (SIGHUP)"),
                            **{n: ("skipped", "interrupted (SIGHUP)") for n in NAMES[4:]}})

    def test_stopped_and_continued(self):
        # An orphaned group cannot be stopped from its terminal: a shell in between, as in real life.
        self.configure(seven(build=sh("echo rea''dy; sleep 100; echo woke''up")))
        pid, terminal = self.on_terminal(["/bin/bash", "--norc", "-i"], PS1="> ")
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.read_until(terminal, b"> ")
        os.write(terminal, f"{PROFTRACE} pipeline\n".encode())
        self.assertIn(b"ready\r", self.read_until(terminal, b"ready\r"))
        # Not while sh is in vfork: a parent in vfork cannot stop.
        self.assertTrue(wait_until(lambda: "sleep 100 " in self.processes().values()), self.processes())
        sleep = next(one for one, command in self.processes().items() if command == "sleep 100 ")
        os.write(terminal, b"\x1a")
        self.assertIn(b"Stopped", self.read_until(terminal, b"Stopped"))
        os.write(terminal, b"fg\n")
        os.kill(sleep, signal.SIGTERM)  # taken once it goes on
        self.assertIn(b"wokeup", self.read_until(terminal, b"wokeup"))
        self.read_until(terminal, b"next:")
        os.write(terminal, b"echo code $?\n")
        self.assertIn(b"code 0", self.read_until(terminal, b"code 0"))
        os.write(terminal, b"exit\n")
        self.read_all(terminal)
        self.assert_stages({name: "ok" for name in NAMES})


if __name__ == "__main__":
    unittest.main()
