#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`proftrace diff` of programs that run commands: its first line names the command that is new or slower, however short it is, and where it is waited for."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from sampled import no_samples  # noqa: E402

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE, PYTHON = BUILD / "proftrace", "/usr/bin/python3"
PROGRAM = """
import os, subprocess, sys
WITH = os.environ.get("WITH", "")
def convert():
    subprocess.run([sys.executable, "-S", "-c", "sum(x * x for x in range(600000))"], check=True)
def probe():
    subprocess.run(["./tool"] if WITH == "tool" else ["/bin/true"], check=True)
def pack():
    subprocess.run(["gzip", "-9" if WITH == "slower" else "-1", "-c", "data"], stdout=subprocess.DEVNULL, check=True)
def label(number):
    with open(f"{number % 40}.bin", "rb", buffering=0) as file:
        file.read(100)
        if WITH == "reads": file.read(20000)
def main():
    for number in range(1200): label(number)
    for _ in range(3): pack()
    for _ in range(6):
        convert()
        if WITH in ("tool", "true"): probe()
main()
"""
NEEDS_SAMPLES = unittest.skipIf(no_samples(PROFTRACE), no_samples(PROFTRACE))
SCRIPT = """for i in 1 2 3 4; do sort data >/dev/null; [ "$WITH" = new ] && gzip -9 -c data >/dev/null; done; true"""
TOOL = "#!/bin/sh\ni=0; while [ $i -lt 60000 ]; do i=$((i+1)); done\n"


def environment():
    return {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="commands-", dir=BUILD)
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        (cls.folder / "program.py").write_text(PROGRAM, encoding="utf-8")
        (cls.folder / "script.sh").write_text(SCRIPT, encoding="utf-8")
        (cls.folder / "data").write_text("".join(f"line {number * 7919 % 100003} of {number % 977}\n" for number in range(60000)), encoding="utf-8")
        (cls.folder / "tool").write_text(TOOL, encoding="utf-8")
        (cls.folder / "tool").chmod(0o755)
        for number in range(40):
            (cls.folder / f"{number}.bin").write_bytes(bytes(30000))

    def record(self, name, regression, command):
        done = subprocess.run([PROFTRACE, "run", "--stage", "stage", "-o", name, "--", *command], cwd=self.folder, env={**environment(), "WITH": regression},
                              capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return name

    def says(self, regression, wanted, command=(PYTHON, "program.py")):
        """Up to five pairs of runs: another program may hold one up."""
        for attempt in range(5):
            runs = [self.record(f"usual {regression}{attempt}", "", command), self.record(f"{regression}{attempt}", regression, command)]
            done = subprocess.run([PROFTRACE, "diff", *runs], cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            first = done.stdout.splitlines()[0]
            if re.search(wanted, first):
                break
        self.assertRegex(first, wanted)

    @staticmethod
    def line_of(text):
        return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)

    @NEEDS_SAMPLES
    def test_a_new_command_of_a_program(self):
        self.says("tool", rf"\+\S+ m?s (Native|Python)\b.*; \S+/(dash|bash|sh) in program\.py:{self.line_of('./tool')} probe: the runs \(0 -> 6\)")

    @NEEDS_SAMPLES
    def test_a_slower_command(self):
        self.says("slower", rf"\+\S+ m?s Native in \[gzip\], which computes for .*; \S+/gzip in program\.py:{self.line_of('gzip')} pack: it takes [\d.]+ x as long")

    @NEEDS_SAMPLES
    def test_a_new_command_of_a_script(self):
        self.says("new", r"\+\S+ m?s Native in \[gzip\], which computes for .*; \S+/gzip: the runs \(0 -> 4\)", ("/bin/sh", "script.sh"))

    def test_commands_too_short_for_the_wall_time(self):
        """Six waits of a millisecond: on a busy machine the library takes no stack of them."""
        self.says("true", rf"\S+/true( in program\.py:{self.line_of('./tool')} probe)?: the runs \(0 -> 6\)")

    def test_reads_of_many_files(self):
        self.says("reads", rf"^stage\b.*read: .* x the calls \(1,\d\d\d -> 2,\d\d\d\) of \S+/\*\.bin in program\.py:({self.line_of('read(100)')}|{self.line_of('read(20000)')}) label")

    def test_files_that_a_cut_table_leaves_out(self):
        """Each of 150 files takes as long as the others: which of them are in the report is chance."""
        code = "import os, random\nnames = [f'file {chr(97 + i // 26)}{chr(97 + i % 26)}' for i in range(150)]\n" \
               "for name in names: open(name, 'w').close()\nfor i in range(150):\n    random.shuffle(names)\n    for name in names: os.close(os.open(name, 0))"
        for attempt in range(5):
            runs = [self.record(f"cut {attempt} {i}", "", (PYTHON, "-c", code)) for i in range(2)]
            done = subprocess.run([PROFTRACE, "diff", "--format", "json", *runs], cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            if done.stdout.count("/file ") < 15:  # what other programs held up for a millisecond may stand out
                break
        self.assertLess(done.stdout.count("/file "), 15)


if __name__ == "__main__":
    unittest.main()
