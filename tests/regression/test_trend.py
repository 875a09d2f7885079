#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`proftrace trend`: since when a figure of a history is another, and with which commit."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE = BUILD / "proftrace"


def run(number, figures, host="lab", dataset=None):
    return {"run": f"r{number:02}", "at_utc": f"2026-10-{number + 1:02}T10:00:00Z", "commit": f"{number:02}" * 20, "host": host, "cpus": 2,
            "tool": "proftrace 0.1.0", "dataset": dataset, "figures": figures}


class Trend(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="trend-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.file = self.folder / "baseline.json"

    def proftrace(self, *arguments, status=0):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
        done = subprocess.run([PROFTRACE, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=100, cwd=self.folder, env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr if status else done.stdout

    def trend(self, *more, status=0, **stages):
        self.file.write_text(json.dumps({"schema_version": "1.0", "stages": stages}), encoding="utf-8")
        return self.proftrace("trend", self.file, *more, status=status)

    def test_a_count_with_run_and_commit(self):
        runs = [run(i, {"read.calls": 1000 if i < 7 else 2000, "open.calls": 50}) for i in range(12)]
        random.Random(1).shuffle(runs)  # merged branches are in no order
        said = self.trend(train=runs)
        self.assertEqual(said.splitlines()[0], "train: read.calls 1,000 -> 2,000 since run r07, commit 070707070707 (7 runs before, 5 since)")
        self.assertNotIn("open.calls", said)

    def test_a_regression_that_was_repaired(self):
        rows = json.loads(self.trend("--format", "json", train=[run(i, {"read.calls": 2000 if 5 <= i < 9 else 1000}) for i in range(15)]))["stages"][0]["changes"]
        self.assertEqual([(row["run"], row["before"], row["after"]) for row in rows], [("r09", "2,000", "1,000"), ("r05", "1,000", "2,000")])
        self.assertEqual([(row["before_value"], row["after_value"], row["unit"]) for row in rows], [(2000, 1000, "count"), (1000, 2000, "count")])

    def test_a_figure_that_older_runs_do_not_know_has_not_changed(self):
        old = [run(i, {"read.calls": 1000}) for i in range(5)]
        new = [run(i, {"read.calls": 1000, "files.opened": 50}) | {"unknown": {}} for i in range(5, 10)]
        self.assertIn("no change", self.trend(train=old + new))
        # A call that was never made before was made 0 times.
        self.assertRegex(self.trend(train=old + [run(i, {"read.calls": 1000, "sync.calls": 50}) for i in range(5, 10)]), r"^train: sync\.calls 0 -> 50 since run r05")

    def test_a_call_that_is_not_made_any_more(self):
        """The newest runs have no such figure at all."""
        made = [run(i, {"read.calls": 1000} | ({"sync.calls": 5000} if 4 <= i < 8 else {})) for i in range(12)]
        rows = json.loads(self.trend("--format", "json", train=made))["stages"][0]["changes"]
        self.assertEqual([(row["run"], row["figure"], row["before"], row["after"]) for row in rows], [("r08", "sync.calls", "5,000", "0"), ("r04", "sync.calls", "0", "5,000")])

    def test_times_of_one_machine_only(self):
        noise = random.Random(3)
        level = lambda i: 10 if i < 8 else 11.5  # noqa: E731
        runs = [run(i, {"wall_s": level(i) * noise.uniform(0.97, 1.03)}) for i in range(16)]
        said = self.trend(train=runs)
        self.assertRegex(said.splitlines()[0], r"^train: wall_s (9\.\d+|10\.\d) s -> 11\.\d s since run r08, commit 080808080808 \(8 runs before, 8 since, p [<=] 0\.00\d\)$")
        # The first eight on another machine: what is told is of the others.
        other = [run(i, {"wall_s": 10.0}, host="laptop" if i < 8 else "lab") for i in range(16)]
        said = self.trend(train=other)
        self.assertEqual(said.splitlines()[0], "no change: every figure is at the level of its first runs; train: times of 8 of 16 runs, those of this machine")
        self.assertIn("times: the 8 of these runs that are of this machine; the others tell none", said)

    def test_what_too_few_runs_know_is_not_unchanged(self):
        """Each run of CI in a container of its own: it was "no change", with twice the time."""
        level = lambda i, n: 10 if i < n / 2 else 20  # noqa: E731
        said = self.trend(train=[run(i, {"wall_s": level(i, 20), "read.calls": 1000}, host=f"container{i}") for i in range(20)])
        self.assertEqual(said.splitlines()[0], "no change that could be told. train: nobody can tell of wall_s: 8 runs are needed, and there is 1 of this machine (19 of others)")
        self.assertNotIn("every figure", said)
        said = self.trend(train=[run(i, {"wall_s": level(i, 6), "cpu_s": level(i, 6), "read.calls": 1000}) for i in range(6)])
        self.assertEqual(said.splitlines()[0], "no change that could be told. train: nobody can tell of wall_s and 1 more: 8 runs are needed, and there are 6")
        # Where a count has changed, it is the first line, and times are still not passed over.
        said = self.trend(train=[run(i, {"wall_s": level(i, 6), "read.calls": 1000 * level(i, 6)}) for i in range(6)])
        self.assertRegex(said, r"^train: read\.calls 10,000 -> 20,000 since run r03(.*\n)+ *nobody can tell of wall_s: 8 runs are needed, and there are 6")

    def test_another_dataset_is_left_out(self):
        said = self.trend(train=[run(i, {"read.calls": 10 if i < 5 else 1000}, dataset="small" if i < 5 else "large") for i in range(10)])
        self.assertIn("no change", said)
        self.assertIn("5 runs (5 others have another dataset, machine or version of proftrace)", said)

    def test_the_newest_change_is_first_where_times_have_a_shorter_history(self):
        said = self.trend(train=[run(i, {"read.calls": 1000 if i < 5 else 2000, "wall_s": 10 if i < 15 else 20}, host="old" if i < 10 else "new") for i in range(20)])
        self.assertRegex(said, r"^train: wall_s 10\.0 s -> 20\.0 s since run r15(.*\n)*wall_s .*\nread\.calls ")

    def test_processes_count_from_two_on(self):
        """As in check: one process is not ten calls."""
        said = self.trend(train=[run(i, {"processes": 2 if i < 6 else 10, "stat.calls": 2 if i < 6 else 10}) for i in range(12)])
        self.assertIn("train: processes 2 -> 10 since run r06", said.splitlines()[0])
        self.assertNotIn("stat.calls", said)

    def test_another_version_of_proftrace_is_no_change_of_the_program(self):
        """It may count other calls: the commit that came with it was blamed."""
        said = self.trend(train=[run(i, {"read.calls": 1000 if i < 6 else 2000}) | ({"tool": "proftrace 0.0.9"} if i < 6 else {}) for i in range(12)])
        self.assertIn("no change", said.splitlines()[0])
        self.assertRegex(said, r"6 runs \(6 others have another dataset, machine or\s+version of proftrace\)")

    def test_processes_that_were_not_traced_are_told(self):
        said = self.trend(train=[run(i, {"read.calls": 2000 if i < 6 else 1000}) | {"untraced": 0 if i < 6 else 2} for i in range(12)])
        self.assertIn("(6 runs before, 6 since; 0 processes were not traced before, 2 since)", said.splitlines()[0])
        said = self.trend(train=[run(i, {"read.calls": 2000 if i < 6 else 1000}) | {"untraced": i % 3} for i in range(12)])
        self.assertIn("(6 runs before, 6 since)", said.splitlines()[0])

    def test_a_history_longer_than_what_is_looked_at(self):
        """Only the last 60 runs are: what is told is of these, and says so."""
        long = lambda change_at: [run(i, {"read.calls": 1000 if i < change_at else 2000}) | {"at_utc": f"2026-10-01T10:{i // 60:02}:{i % 60:02}Z"} for i in range(130)]  # noqa: E731
        said = self.trend(train=long(30))
        self.assertEqual(said.splitlines()[0], "no change in the last 60 runs: every figure is at the level of the first of these")
        self.assertIn("the last 60 of 130 runs, and no change", said)
        said = self.trend(train=long(100))
        self.assertEqual(said.splitlines()[0], f"train: read.calls 1,000 -> 2,000 since run r100, commit {'100' * 4} (30 runs before, 30 since)")
        self.assertIn("the last 60 of 130 runs, and these changes", said)
        said = self.trend(train=long(130)[:60])
        self.assertEqual(said.splitlines()[0], "no change: every figure is at the level of its first runs")
        self.assertRegex(said, r"(?m)^ *60 runs, and no change")

    def test_recorded_runs(self):
        for number in range(6):
            command = [sys.executable, "-c", f"for i in range({300 if number < 3 else 400}): open('/etc/hostname').close()"]
            self.proftrace("run", "--no-report", "-o", self.folder / f"run{number}", "--", *command)
            self.proftrace("baseline", "add", self.file, self.folder / f"run{number}")
        self.assertRegex(self.proftrace("trend", self.file, "--figure", "open.calls"), r"^\S+: open\.calls 3\d\d -> 4\d\d since run run3")

    def test_forms_and_errors(self):
        hostile = [run(i, {"read.calls": 1000 * (1 + i // 5)}) | {"run": "a\x1b]0;x\x07<b>|"} for i in range(10)]
        for form in "text", "md", "html", "json":
            said = self.trend("--format", form, train=hostile)
            self.assertIn("]0;x", said)
            self.assertNotRegex(said, r"\x1b|\x07" + ("|<b>" if form in ("md", "html") else ""))
        self.assertIn("has no run of stage no", self.trend("--stage", "no", status=2, train=hostile))
        self.assertIn("no such runs", self.proftrace("trend", self.written("{\"schema_version\": \"1.0\", \"stages\": {}}")))
        self.proftrace("trend", self.written("{"), status=3)
        self.proftrace("trend", self.folder / "none", status=2)

    def written(self, text):
        self.file.write_text(text, encoding="utf-8")
        return self.file


if __name__ == "__main__":
    unittest.main()
