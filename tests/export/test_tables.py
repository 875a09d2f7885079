# SPDX-License-Identifier: MIT
"""--to csv, sqlite and ndjson: every event is there once, totals are the report's, and a name stays a name."""
import collections
import csv
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import unicodedata
import unittest
import urllib.parse

from export_case import NAMES, PROFTRACE, SOURCE, STAGE, ExportCase, clean_environment, main


def as_text(name):
    """As JSON and SQL have it: what is no UTF-8 is U+FFFD."""
    return "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in name)


class Csv(ExportCase):
    def rows(self):
        path, said = self.export("csv")
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read()
        self.assertEqual(lines.count("\n"), lines.count("\r\n"), "no name breaks a line")
        rows = list(csv.DictReader(lines.splitlines()))
        self.assertEqual(len(rows), said["slices"] + said["instants"])
        return rows

    def test_each_event_is_a_line(self):
        rows, events = self.rows(), self.dumped()
        self.assertEqual([(int(row["start_ns"]), row["kind"], int(row["pid"]), int(row["tid"])) for row in rows],
                         [(event["start_ns"], event["event"], event["pid"], event["tid"]) for event in events])
        for row, event in zip(rows, events):
            self.assertEqual(row["duration_ns"], str(event.get("duration_ns", "")))
            self.assertIsInstance(json.loads(row["fields"]), dict)

    def test_no_cell_is_a_formula(self):
        for row in self.rows():
            for column, cell in row.items():
                if cell.lstrip("-").isdigit() and column not in ("name", "stage"):
                    continue
                self.assertNotRegex(cell, r"\A[=+\-@\t\r]")
                self.assertTrue(all(c.isprintable() for c in cell), cell)
        with open(self.export("csv")[0], encoding="utf-8", newline="") as file:
            for line in file:
                self.assertNotRegex(line, ";[=+@-]", "where the list separator is a semicolon, a cell begins there, quoted or not")
        names = {row["name"] for row in self.rows()}
        self.assertIn("x;=1+1;y", {(json.loads(row["fields"]).get("path") or "").rsplit("/", 1)[-1] for row in self.rows()})
        self.assertLessEqual({"x;'=1+1;y", "'=1+1", "'+cmd", "'-2", "'@SUM(1)", "it's", "a\\x0ab", '"quoted",', "é"}, names)
        self.assertEqual({row["stage"] for row in self.rows()}, {"'" + STAGE})

    def test_filters_choose_rows(self):
        path, said = self.export("csv", "--pid", str(self.report["processes"][0]["pid"]), "--min-dur", "1ns")
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["pid"] for row in rows}, {str(self.report["processes"][0]["pid"])})
        self.assertEqual(said["processes"], 1)


class OneProcess(ExportCase):
    def test_its_stage_alone_is_in_the_tables(self):
        folder = os.path.join(self.folder, "story")
        self.traced("assemble", str(SOURCE / "tests" / "golden" / "computing_between_calls.pt.txt"), "-o", folder)
        database = sqlite3.connect(":memory:")
        self.addCleanup(database.close)
        database.executescript(self.traced("export", "--to", "sqlite", "-o", "-", folder).stdout.decode())
        stages = dict(database.execute("SELECT stage, pid FROM processes"))
        self.assertGreater(len(stages), 1)
        for stage, pid in stages.items():
            one = sqlite3.connect(":memory:")
            self.addCleanup(one.close)
            one.executescript(self.traced("export", "--to", "sqlite", "--pid", str(pid), "-o", "-", folder).stdout.decode())
            for table in "stages", "time_account", "findings":
                wanted = database.execute(f"SELECT * FROM {table} WHERE stage = ?", (stage,)).fetchall()
                self.assertEqual(one.execute(f"SELECT * FROM {table}").fetchall(), wanted, table)


class Sqlite(ExportCase):
    def check(self, database):
        database.text_factory = lambda text: text.decode("utf-8")
        self.check_queries(lambda sql: database.execute(sql).fetchall())
        names = {row[0] for row in database.execute("SELECT name FROM events WHERE kind = 'io_write'")}
        self.assertLessEqual({as_text(name) for name in NAMES}, names)
        self.assertEqual(database.execute("SELECT json_extract(fields, '$.path') FROM events WHERE kind = 'io_write' AND name = 'it''s'").fetchone(), ("it's",))

    def test_python_reads_it(self):
        path, _ = self.export("sqlite")
        database = sqlite3.connect(":memory:")
        self.addCleanup(database.close)
        with open(path, encoding="utf-8") as file:
            database.executescript(file.read())
        self.check(database)

    @unittest.skipUnless(shutil.which("sqlite3"), "sqlite3 is not installed (Debian package sqlite3)")
    def test_sqlite3_reads_it_once_or_twice(self):
        path, _ = self.export("sqlite")
        made = os.path.join(self.folder, "made.db")
        for _ in range(2):
            with open(path, "rb") as file:
                done = subprocess.run(["sqlite3", "-bail", made], stdin=file, capture_output=True, timeout=100)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        database = sqlite3.connect(made)
        self.addCleanup(database.close)
        self.check(database)

    def test_a_line_holds_no_control_character(self):
        path, _ = self.export("sqlite")
        with open(path, encoding="utf-8", newline="\n") as file:
            self.assertEqual({c for c in file.read() if unicodedata.category(c) == "Cc"}, {"\n"})


class Ndjson(ExportCase):
    def events(self, path):
        """{(stage, kind) as the folders are named: events}"""
        found = collections.defaultdict(list)
        for file in glob.glob(os.path.join(path, "events", "*", "*", "*")):
            stage, kind, name = file.split(os.sep)[-3:]
            self.assertEqual((stage[:6], kind[:5], name), ("stage=", "kind=", "events.ndjson"))
            with open(file, encoding="utf-8", newline="\n") as lines:
                found[urllib.parse.unquote(stage[6:]), kind[5:]] += map(json.loads, lines)
        return found

    def test_each_event_is_in_its_partition(self):
        path, said = self.export("ndjson")
        found = self.events(path)
        theirs = collections.Counter(event["event"] for event in self.dumped())
        self.assertEqual({key: len(events) for key, events in found.items()}, {(STAGE, kind): n for kind, n in theirs.items()})
        self.assertEqual(sum(theirs.values()), said["slices"] + said["instants"])
        for (stage, kind), events in found.items():
            self.assertEqual({(event["stage"], event["kind"]) for event in events}, {(stage, kind)})
            self.assertEqual(len({tuple(event) for event in events} - {tuple(e for e in events[0])}), 0, "a kind has one schema") if kind == "io_read" else None
        self.assertLessEqual({as_text(name) for name in NAMES}, {event["name"] for event in found[STAGE, "io_write"]})

    def test_the_end_of_a_run_has_one_number_for_each_process(self):
        """Also where processes that had ended before are left out."""
        data = os.path.join(self.folder, "since")
        subprocess.run([PROFTRACE, "run", "--no-report", "-o", data, "--", "sh", "-c", "cat /etc/hostname; cat /etc/hostname; sleep 2; cat /etc/hostname; cat /etc/hostname; true"],
                       capture_output=True, check=True, env=clean_environment())
        path = os.path.join(self.folder, "since.ndjson")
        self.traced("export", "--to", "ndjson", "--since", "1s", "-o", path, data)
        with open(os.path.join(path, "processes.ndjson"), encoding="utf-8") as file:
            processes = {row["process"]: row["pid"] for row in map(json.loads, file)}
        events = {(event["process"], event["pid"]) for events in self.events(path).values() for event in events}
        self.assertGreater(len(events), 2)
        self.assertLessEqual(events, set(processes.items()))

    def test_the_size_is_that_of_its_files(self):
        path, said = self.export("ndjson")
        self.assertEqual(said["bytes"], sum(os.path.getsize(os.path.join(folder, file)) for folder, _, files in os.walk(path) for file in files))

    def test_totals_are_the_reports(self):
        path, _ = self.export("ndjson")
        with open(os.path.join(path, "totals.ndjson"), encoding="utf-8") as file:
            totals = list(map(json.loads, file))
        sums = collections.defaultdict(lambda: [0, 0, 0, 0])
        for row in totals:
            if row["call"]:
                key = row["pid"], row["call"]
                sums[key] = [a + b for a, b in zip(sums[key], (row["calls"], row["bytes"] or 0, row["errors"], row["seconds"]))]
        self.check_io([(*key, *row) for key, row in sums.items()])

    def test_a_folder_with_something_in_it_is_left_alone(self):
        path, _ = self.export("ndjson")
        before = sorted(os.walk(path))
        self.export("ndjson", code=2)
        self.assertIn("has something in it", self.said)
        self.assertEqual(sorted(os.walk(path)), before)

    def test_a_failed_export_leaves_nothing(self):
        path, _ = self.export("ndjson", "--max-size", "10K", code=2)
        self.assertFalse([name for name in os.listdir(self.folder) if os.path.basename(path) in name])

    def test_in_the_run_directory(self):
        self.traced("export", "--to", "ndjson", self.run_path)
        self.addCleanup(shutil.rmtree, os.path.join(self.run_path, "ndjson"))
        self.assertIn("events", os.listdir(os.path.join(self.run_path, "ndjson")))
        self.assertEqual(os.stat(os.path.join(self.run_path, "ndjson")).st_mode & 0o777, 0o700)


if __name__ == "__main__":
    main()
