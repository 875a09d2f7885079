# SPDX-License-Identifier: MIT
"""Every golden story, hostile ones too, in each format: what reads it accepts it, and the tables have its totals."""
import glob
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from export_case import PROFTRACE, SOURCE, clean_environment, main

GOLDEN = SOURCE / "tests" / "golden"
SCHEMA = SOURCE / "tests" / "export" / "junit.xsd"


class Stories(unittest.TestCase):
    def ask(self, *arguments):
        done = subprocess.run([PROFTRACE, *arguments], capture_output=True, env=clean_environment(), timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def accepted(self, text, *reader):
        if shutil.which(reader[0]):
            done = subprocess.run(reader, input=text, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr or done.stdout)

    def check(self, run):
        report = json.loads(self.ask("report", run, "--format", "json"))
        database = sqlite3.connect(":memory:")
        self.addCleanup(database.close)
        database.executescript(self.ask("export", "--to", "sqlite", "-o", "-", run).decode("utf-8"))
        self.assertEqual([row[0] for row in database.execute("SELECT rule FROM findings WHERE severity <> 'observation'")], [finding["rule"] for finding in report["findings"]])
        self.assertEqual([row[0] for row in database.execute("SELECT duration_s IS NULL FROM stages")], [stage["duration_s"] is None for stage in report["stages"]])
        self.assertEqual(database.execute("SELECT COUNT(*) FROM processes").fetchone()[0], sum(process["traced"] for process in report["processes"]))
        counted_only = "SELECT COUNT(*) FROM totals WHERE kind IN ('meta_read_dir', 'stdio_char') AND seconds IS NOT NULL"
        self.assertEqual(database.execute(counted_only).fetchone()[0], 0)
        events = len(self.ask("dump", "--json", run).splitlines())
        self.assertEqual(database.execute("SELECT COUNT(*) FROM events").fetchone()[0], events)
        self.assertEqual(self.ask("export", "--to", "csv", "-o", "-", run).count(b"\n"), events + 1)
        for line in self.ask("export", "--to", "otlp", "-o", "-", run).decode("utf-8").splitlines():
            json.loads(line)
        self.accepted(self.ask("export", "--to", "openmetrics", "-o", "-", run), "promtool", "check", "metrics")
        self.accepted(self.ask("export", "--to", "junit", "-o", "-", run), "xmllint", "--noout", "--schema", str(SCHEMA), "-")
        folder = os.path.join(run, "tables")
        self.ask("export", "--to", "ndjson", "-o", folder, run)
        lines = [json.loads(line) for file in glob.glob(os.path.join(folder, "events", "*", "*", "*")) for line in pathlib.Path(file).read_text(encoding="utf-8").split("\n")[:-1]]
        self.assertEqual(len(lines), events)

    def test_each_story(self):
        stories = sorted(GOLDEN.glob("*.pt.txt"))
        self.assertGreater(len(stories), 50)
        for story in stories:
            run = tempfile.mkdtemp(prefix="stories-")
            self.addCleanup(shutil.rmtree, run, ignore_errors=True)
            name = story.name.removesuffix(".pt.txt")
            if (GOLDEN / f"{name}.run.json").exists():
                shutil.copy(GOLDEN / f"{name}.run.json", os.path.join(run, "run.json"))
            self.ask("assemble", str(story), "-o", run)
            with self.subTest(story=name):
                self.check(run)
            shutil.rmtree(run, ignore_errors=True)


if __name__ == "__main__":
    main()
