# SPDX-License-Identifier: MIT
"""`run --log` and `run --timeline`, and what the closing lines name."""
import gzip
import json
import os
import subprocess
import time
import unittest

from launcher_case import PROFTRACE, LauncherCase, clean_environment

SAYS = "echo out; echo err >&2; exit 3"


class LogAndTimeline(LauncherCase):
    def latest(self, name):
        return os.path.join(self.folder, "proftrace.data", "latest", name)

    def test_the_log(self):
        done = self.proftrace("run", "--log", "--", "/bin/sh", "-c", SAYS)
        self.assertEqual((done.returncode, done.stdout), (3, b"out\n"))
        self.assertTrue(done.stderr.startswith(b"err\n"), done.stderr)
        with open(self.latest("logs/sh.log"), "rb") as file:
            self.assertEqual(sorted(file.read().split()), [b"err", b"out"])
        failure = json.loads(self.proftrace("report", "--format", "json").stdout)["failures"][0]
        self.assertEqual((failure["log"], sorted(failure["log_tail"])), ("logs/sh.log", ["err", "out"]))
        for form in (("--full",), ("--format", "md"), ("--format", "html")):
            text = self.proftrace("report", *form).stdout.decode()
            self.assertTrue("logs/sh.log" in text and "exit 3" in text, form)

    def test_without_it_the_streams_are_the_callers(self):
        """The decision: what is not asked for changes nothing."""
        with open(os.path.join(self.folder, "out"), "wb") as out:
            subprocess.run([PROFTRACE, "run", "--no-report", "--", "/bin/sh", "-c", "readlink /proc/self/fd/1"], cwd=self.folder,
                           env=clean_environment(), stdout=out, stderr=subprocess.DEVNULL, check=True)
        with open(os.path.join(self.folder, "out"), encoding="utf-8") as out:
            self.assertEqual(out.read().strip(), os.path.join(self.folder, "out"))
        self.assertFalse(os.path.exists(self.latest("logs")))

    def test_a_reader_that_goes_away(self):
        """`yes | head`: a log that grew for ever filled the disk."""
        for options in ((), ("--log",)):
            process = self.start_it("yes", options=options, stdout=-1, stderr=subprocess.DEVNULL)
            self.assertEqual(process.stdout.readline(), b"y\n")
            process.stdout.close()
            self.assertEqual(process.wait(20), -13, options)

    def test_a_reader_that_stops(self):
        """The command has ended, and nobody takes what it wrote: a signal ends the wait, as ten seconds would; it was for ever."""
        process = self.start_it("/bin/sh", "-c", "head -c 1000000 /dev/zero; touch ended", options=("--log",), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not os.path.exists(os.path.join(self.folder, "ended")) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)  # it is waited for
        process.terminate()
        self.assertEqual(process.wait(8), 0)
        self.assertEqual(self.record()["exit"], "exit 0")

    def test_the_timeline(self):
        done = self.proftrace("run", "--timeline", "--no-report", "--", "/bin/true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("trace.json.gz", done.stderr.decode())
        with gzip.open(self.latest("trace.json.gz"), "rt", encoding="utf-8") as file:
            self.assertTrue(json.load(file)["traceEvents"])

    def test_the_timeline_of_a_quiet_run(self):
        done = self.proftrace("run", "--timeline", "--no-report", "--", "/bin/true", environment={"PROFTRACE_QUIET": "1"})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(os.path.exists(self.latest("trace.json.gz")))

    def test_the_page_is_named(self):
        done = self.proftrace("run", "--", "/bin/true")
        line = done.stderr.decode().splitlines()[-1]
        self.assertRegex(line, r"^proftrace: proftrace\.data/\S+/report\.html  \(next: proftrace report \S+\)$")
        self.assertTrue(os.path.exists(os.path.join(self.folder, line.split()[1])))
        self.assertNotIn("report.html", self.run_it("/bin/true").stderr.decode())


if __name__ == "__main__":
    unittest.main()
