#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run that is large enough for every thread of the analyzer: whoever of them is faster, the same bytes come out.

Each command runs with all CPUs and with one, on which the threads take turns in another order. A data race that
ThreadSanitizer's build finds ends the command with an exit code of its own.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"])
EVENTS = 150000  # the analyses use threads from 100,000 on
CPUS = os.sched_getaffinity(0)
# Where the output goes: - is stdout, else a file of that name.
COMMANDS = (
    (("report", "--format", "json"), "-"),
    (("report", "--format", "html"), "-"),
    (("stats", "--json"), "-"),
    (("dump",), "-"),
    (("export", "--to", "chrome"), "timeline.json.gz"),
    (("export", "--to", "perfetto"), "timeline.pftrace.gz"),
    (("export", "--to", "torch"), "torch"),
)


def digest(path):
    """Of a file, or of all files of a folder."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [(file.name, hashlib.sha256(file.read_bytes()).hexdigest()) for file in files if file.is_file()]


class SameBytes(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="threads-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.run_folder = self.folder / "run"
        subprocess.run([BUILD / "bench" / "b_trace", self.run_folder, str(EVENTS)], check=True, capture_output=True)

    def outcome(self, command, name, cpus):
        target = self.folder / name
        options = [] if name == "-" else ["-o", target, "--force"]
        done = subprocess.run([BUILD / "proftrace", command[0], self.run_folder, *command[1:], *options], capture_output=True,
                              preexec_fn=lambda: os.sched_setaffinity(0, cpus), check=False)
        self.assertEqual(done.returncode, 0, f"{' '.join(command)}: {done.stderr.decode()[-3000:]}")
        got = digest(target) if options else hashlib.sha256(done.stdout).hexdigest()
        self.assertTrue(done.stdout or got, f"{' '.join(command)} wrote nothing")
        if target.is_dir():
            shutil.rmtree(target)
        return got

    @unittest.skipIf(len(CPUS) < 2, "one CPU: the analyzer has one thread, and there is nothing to compare")
    def test_the_fastest_thread_decides_nothing(self):
        for command, name in COMMANDS:
            with self.subTest(" ".join(command)):
                first = self.outcome(command, name, CPUS)
                self.assertEqual(self.outcome(command, name, {min(CPUS)}), first)


if __name__ == "__main__":
    unittest.main()
