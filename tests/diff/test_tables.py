#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables that `proftrace diff` holds against each other: each names columns that its rows have, and shows what grew, whichever of them that is."""
import csv
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE = BUILD / "proftrace"


def rows_of(macro, file):
    """The arguments of each row of a .def file, without their quotes."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return list(csv.reader(re.findall(rf"^{macro}\((.*)\)$", text, re.M), skipinitialspace=True))


def columns_of_views():
    """The columns of each table that an analysis makes: PT_VIEW_x -> keys, as its source declares them."""
    columns = {}
    for file in (ROOT / "analyzer/analysis").rglob("*.c"):
        text = file.read_text(encoding="utf-8")
        macros = dict(re.findall(r"^#define (\w+) +\\\n((?:.*\\\n)*.*)", text, re.M))
        for view, array in re.findall(r"\{PT_VIEW_(\w+),[^}]*?PT_COLUMNS\((\w+)\)\}", text):
            body = re.search(rf"\b{array}\[\] = \{{(.*?)\}};", text, re.S).group(1)
            body = re.sub(r"\b[A-Z_]+\b", lambda word: macros.get(word.group(), word.group()), body)
            columns[view] = set(re.findall(r"PT_COLUMN\([^,]+, (\w+),", body)) | set(re.findall(r'PT_COLUMN_AT\([^,]+, [^,]+, "(\w+)"', body))
    return columns


def view_of(path):
    """Which view's rows stand at a path below a stage in report.json."""
    macro = "DEVICE_TABLE" if path.startswith("gpu.devices.") else "(?:ANALYSIS_)?TABLE"
    views = rows_of(macro, "analyzer/profile/views.def")
    by_path = {name: view for view, name, *_ in views} | {key: view for view, _, key, *_ in views}
    return by_path[path.removeprefix("gpu.devices.")]


class Columns(unittest.TestCase):
    def test_each_table_names_columns_that_there_are(self):
        """A misspelt one is 0 in both runs, so that the table never shows a difference."""
        views, tables = columns_of_views(), rows_of("TABLE", "analyzer/diff/tables.def")
        self.assertGreater(len(tables), 10)
        for _, path, *members, _ in tables:
            if path == "epoch.parts":  # made by diff itself: test_selection.py
                continue
            with self.subTest(path):
                self.assertLessEqual({member for member in members if member}, views[view_of(path)])


class Stories(unittest.TestCase):
    """Stories of tests/golden, and the same with something that takes longer."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tables-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def proftrace(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
        return subprocess.run([PROFTRACE, *arguments], check=True, capture_output=True, text=True, timeout=100, env=environment).stdout

    def tables(self, story, old, new):
        """Of the story's stage, and the same where each line with `old`, a pattern, has `new` instead."""
        text = (ROOT / f"tests/golden/{story}.pt.txt").read_text(encoding="utf-8")
        self.assertRegex(text, old)
        for name, of_run in (("a", text), ("b", re.sub(old, new, text))):
            (self.folder / f"{name}.pt.txt").write_text(of_run, encoding="utf-8")
            self.proftrace("assemble", self.folder / f"{name}.pt.txt", "-o", self.folder / name)
        return json.loads(self.proftrace("diff", self.folder / "a", self.folder / "b", "--json"))["stages"][0]

    def row(self, stage, table, name):
        return next((row["a_s"], row["b_s"]) for row in stage[table] if row["name"] == name)

    def test_ranges_that_overlap(self):
        """As requests of an asynchronous server do: they have no time of their own."""
        stage = self.tables("overlapping_ranges", "2.100000000 100/101 range_close id=0x1", "2.800000000 100/101 range_close id=0x1")
        a_s, b_s = self.row(stage, "ranges", "fetch: batch")
        self.assertAlmostEqual(a_s, 2.0)
        self.assertAlmostEqual(b_s, 2.7)

    def test_ranges_at_the_end_of_a_table_that_is_cut(self):
        """A promise keeps a short range in the table: one that changed places with the last of the others had gone, or come."""
        places = {"part_48": "part_49", "part_49": "part_48"}
        stage = self.tables("promised_range_among_many", "part_4[89]", lambda name: places[name.group()])
        self.assertEqual([row["name"] for row in stage.get("ranges", ()) if row["name"] in places], [])

    def test_why_gpus_were_idle(self):
        stage = self.tables("gpu_idle_causes", r"2.000000000 \+0.900000000 100/100 io_read", "2.000000000 +0.400000000 100/100 io_read")
        for cause, wanted in (("file_read", (0.9, 0.4)), ("host_code", (2.3993, 2.8993))):
            for seconds, want in zip(self.row(stage, "idle_causes", cause), wanted):
                self.assertAlmostEqual(seconds, want)


if __name__ == "__main__":
    unittest.main()
