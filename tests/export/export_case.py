# SPDX-License-Identifier: MIT
"""What the tests of exports share: a traced program of known calls with hostile names, its report, and the ready queries of
docs/tables.md with what each must give."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build"))
PROFTRACE = os.path.join(BUILD, "proftrace")
STAGE = "=cmd|' /C calc'!A0/é%1"
# Names that a spreadsheet would run, that end a literal, a line or a statement, and one that is no UTF-8.
NAMES = ["=1+1", "+cmd", "-2", "@SUM(1)", "it's", "a\nb", "\t=1", "x\n.quit\n", "'); DROP TABLE events; --", '"quoted",', "ends in \\", "\udcff\udcfe", "é", "\x1b[2J", "\x9b2J", "x;=1+1;y"]
PROGRAM = f"""
import os, subprocess, sys
names = {NAMES!r}
for name in names:
    with open(name, "wb", 0) as file:
        for piece in range(20):
            file.write(b"x" * 100)
    with open(name, "rb", 0) as file:
        while file.read(64):
            pass
    os.stat(name)
    try:
        open(name + "/not there")
    except OSError:
        pass
if len(sys.argv) < 2:
    subprocess.run([sys.executable, __file__, "child"], check=True)
"""


def clean_environment(**more):
    ours = ("PROFTRACE_", "ENABLE_PROFILING", "PROFILE_OUTPUT_DIR", "LD_PRELOAD")
    return {**{k: v for k, v in os.environ.items() if not k.startswith(ours)}, **more}


def queries():
    """{name: SQL} of docs/tables.md, in their order."""
    text = (SOURCE / "docs" / "tables.md").read_text(encoding="utf-8")
    return dict(re.findall(r"(?ms)^```sql (\w+)\n(.*?)^```$", text))


class ExportCase(unittest.TestCase):
    maxDiff = None
    program, stage = PROGRAM, STAGE

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="export-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        program = os.path.join(cls.folder, "program.py")
        with open(program, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(cls.program)
        cls.traced("run", "--no-report", "--stage", cls.stage, "--", "/usr/bin/python3", program)
        cls.run_path = os.path.realpath(os.path.join(cls.folder, "data", "latest"))
        cls.report = json.loads(cls.traced("report", cls.run_path, "--format", "json").stdout)

    @classmethod
    def traced(cls, *arguments, code=0):
        done = subprocess.run([PROFTRACE, *arguments], cwd=cls.folder, env=clean_environment(PROFTRACE_DIR=os.path.join(cls.folder, "data")),
                              capture_output=True, timeout=100)
        if done.returncode != code:
            raise AssertionError(f"{arguments}: {done.returncode}\n{done.stderr.decode(errors='replace')}")
        return done

    def export(self, to, *options, code=0):
        """Its path, and what --json says of it."""
        path = os.path.join(self.folder, f"{self.id().rsplit('.', 1)[1]}.{to}")
        done = self.traced("export", "--to", to, "-o", path, "--json", *options, self.run_path, code=code)
        self.said = done.stderr.decode(errors="replace")
        return path, json.loads(done.stdout) if not code else None

    def dumped(self):
        return [json.loads(line) for line in self.traced("dump", "--json", self.run_path).stdout.decode().splitlines()]

    # ---- the ready queries ----

    def check_queries(self, ask):
        """`ask(sql)` gives rows of plain values."""
        asked = {name: ask(sql) for name, sql in queries().items() if name not in ("duckdb", "clickhouse", "parquet")}
        for name in asked:
            with self.subTest(query=name):
                getattr(self, "check_" + name)(asked[name])

    def check_io(self, rows):
        ours, theirs = {}, {}
        for pid, call, calls, moved, errors, seconds in rows:
            ours[pid, call] = [calls, moved or 0, errors, round(seconds, 6)]
        for process in self.report["processes"]:
            for call, io in process["io"].items():
                total = theirs.setdefault((process["pid"], call), [0, 0, 0, 0])
                theirs[process["pid"], call] = [a + b for a, b in zip(total, (io["calls"], io.get("bytes", 0), io["errors"], io["seconds"]))]
        theirs = {key: [*io[:3], round(io[3], 6)] for key, io in theirs.items() if io[0]}
        self.assertEqual(ours.keys(), theirs.keys())
        self.assertGreaterEqual(len(ours), 8, "two processes that open, read, write and stat")
        for key, row in ours.items():
            self.assertEqual(row[:3], theirs[key][:3], key)
            self.assertAlmostEqual(row[3], theirs[key][3], delta=2e-6)

    def check_heap(self, rows):
        theirs = [sum(process["heap"][key] for process in self.report["processes"]) for key in ("allocs", "frees", "bytes")]
        self.assertEqual([list(row) for row in rows], [[STAGE, *theirs]])

    def check_stages(self, rows):
        theirs = sorted(self.report["stages"], key=lambda stage: -stage["duration_s"])
        self.assertEqual([tuple(row[:2]) for row in rows], [(stage["stage"], stage["status"]) for stage in theirs])
        for row, stage in zip(rows, theirs):
            self.assertAlmostEqual(row[2], stage["duration_s"], places=5)
            self.assertAlmostEqual(row[3], stage["cpu_s"], places=5)

    def check_time(self, rows):
        theirs = {(stage["stage"], part): seconds for stage in self.report["stages"] for part, seconds in stage["time"].items()
                  if isinstance(seconds, (int, float)) and seconds > 0}
        ours = {(stage, part): seconds for stage, part, seconds in rows}
        for key in ours.keys() | theirs.keys():
            self.assertAlmostEqual(ours.get(key, 0), theirs.get(key, 0), delta=2e-6, msg=key)

    def check_run(self, rows):
        quality = self.report["trace_quality"]
        self.assertEqual([tuple(row) for row in rows], [(quality["events"], quality["overwritten"], quality["dropped"])])

    def check_files(self, rows):
        ours = {name: (calls, moved) for name, calls, moved, _ in rows}
        for name in NAMES[:7]:
            self.assertEqual([given for path, given in ours.items() if path == name or (path or "").endswith("/" + name)], [(66, 4000)], name)

    def check_kinds(self, rows):
        theirs = collections.Counter(event["event"] for event in self.dumped())
        self.assertEqual({(stage, kind): calls for stage, kind, calls in rows}, {(STAGE, kind): calls for kind, calls in theirs.items()})


def main():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    unittest.main()
