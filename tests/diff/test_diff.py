#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`proftrace diff` of a pipeline and the same with one regression planted: its first line names the stage, the cause and the place."""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE = BUILD / "proftrace"
STAGES = "prepare", "train"
# What is planted: what the line must say after the stage.
PLANTED = {
    "reads": r"File read in load \(stage\.py:\d+\).*read: \d+ x the bytes",
    "stats": r"(File metadata|Python|Native) in look \(stage\.py:\d+\)",
    "work": r"Python in checksum \(stage\.py:\d+\), which computes for",
    "cache": r"Python in decode(\.<locals>\.<genexpr>)? \(stage\.py:\d+\), which computes for",
    "copies": r"(Native|Python|Page faults|Heap \(est\.\)) in normalise \(stage\.py:\d+\)",
    "pack": r"(Native|Python) in pack \(stage\.py:\d+\)",
    "boxes": r"(Python|Native|Page faults|Heap \(est\.\)) in boxes(\.<locals>\.<listcomp>)? \(stage\.py:\d+\)",
    "small_writes": r"(File write|Python|Native) in save \(stage\.py:\d+\)",
    "fsync": r"File write in save \(stage\.py:\d+\); sync: the calls \(0 -> ",
    "lock": r"(Sleep in hold|Locks in update)",
    "sleep": r"Sleep in pause \(stage\.py:\d+\)",
    "children": r"Child wait",
    "slow_worker": r"(Own workers|Child wait|Locks|Data wait): it waits for crop(\.<locals>\.<genexpr>)? \(stage\.py:\d+\), which computes for",
}
# What changes the wall time by less than other programs on the machine do: what the stage's line must say in the end.
UNDER_THE_NOISE = {
    "one_read": r"read: [\d.]+ x the calls \([\d,]+ -> [\d,]+\) of \S+/3\.bin in stage\.py:\d+ label",
    "one_open": r"open: [\d.]+ x the calls \([\d,]+ -> [\d,]+\) of \S+/3\.bin",
    "more_work": r"(CPU|Python) in augment(\.<locals>\.<genexpr>)? \(stage\.py:\d+\), which computes for",
}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="diff-", dir=BUILD)
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        for number in range(4):
            (cls.folder / f"{number}.bin").write_bytes(bytes(range(256)) * (16 << 10))
        stages = [{"stage": name, "cmd": [sys.executable, str(HERE / "stage.py"), name]} for name in STAGES]
        (cls.folder / "config.json").write_text(json.dumps({"profile": {"stages": stages}}), encoding="utf-8")
        cls.usual = cls.run_pipeline("usual")

    @classmethod
    def run_pipeline(cls, name, regression=""):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
        done = subprocess.run([PROFTRACE, "pipeline", "--config", cls.folder / "config.json"], cwd=cls.folder, check=False,
                              env={**environment, "PROFTRACE_DIR": str(cls.folder / name), "DATA": str(cls.folder), "REGRESSION": regression}, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        return (cls.folder / name / "latest").resolve()

    def diff(self, *arguments, status=0):
        done = subprocess.run([PROFTRACE, "diff", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr if status else done.stdout


class Planted(Case):
    def test_the_first_line_names_stage_cause_and_place(self):
        for number, (name, wanted) in enumerate(PLANTED.items()):
            stage = STAGES[number % 2]
            with self.subTest(name):
                slower = self.run_pipeline(name, f"{stage}:{name}")
                first = self.diff(self.usual, slower).splitlines()[0]
                self.assertRegex(first, rf"^{stage} \+[\d.]+ m?s \([^)]*\): \+[\d.]+ m?s ({wanted})", name)
                # The other way round it is what was gained.
                self.assertRegex(self.diff(slower, self.usual).splitlines()[0], rf"^{stage} -[\d.]+ m?s ")

    def test_counts_tell_what_the_wall_time_cannot(self):
        for name, wanted in UNDER_THE_NOISE.items():
            with self.subTest(name):
                more = self.run_pipeline(name, f"train:{name}")
                first = self.diff(f"{self.usual}:train", f"{more}:train").splitlines()[0]
                self.assertRegex(first, rf"^train.*{wanted}", name)


class Forms(Case):
    def test_a_run_beside_itself_has_no_difference(self):
        said = self.diff(self.usual, self.usual)
        for line, stage in zip(said.splitlines(), sorted(STAGES)):
            self.assertRegex(line, rf"^{stage}: no difference of more than 5 % and 50 ms \((.*) -> \1\)$")
        for other in "Calls", "Functions", "Files", "Findings that came":
            self.assertNotIn(f"{other}, by", said)

    def test_two_stages_of_one_run(self):
        first = self.diff(f"{self.usual}:prepare", f"{self.usual}:train").splitlines()[0]
        self.assertRegex(first, "^train")
        self.assertIn("has no stage nothing", self.diff(f"{self.usual}:nothing", f"{self.usual}:train", status=2))

    def test_json_markdown_and_page_say_the_same(self):
        document = json.loads(self.diff(self.usual, self.usual, "--json"))
        self.assertEqual([stage["stage"] for stage in document["stages"]], sorted(STAGES))
        for stage in document["stages"]:
            wall = next(row for row in stage["times"] if row["figure"] == "Wall")
            report = json.loads((self.usual / "report.json").read_text(encoding="utf-8"))
            own = next(one for one in report["stages"] if one["stage"] == stage["stage"])
            self.assertEqual((wall["a"], wall["b"], wall["difference"]), (own["duration_s"], own["duration_s"], 0))
        self.assertIn("### Why", self.diff(self.usual, self.usual, "--md"))
        page = self.diff(self.usual, self.usual, "--format", "html")
        self.assertEqual(page.count("<h2>"), len(STAGES))

    def test_each_form_has_the_runs_the_verdict_and_what_speaks_against_it(self):
        other = self.folder / "other"
        shutil.copytree(self.usual, other)
        report = json.loads((other / "report.json").read_text(encoding="utf-8"))
        report["host"] = "else<where>"
        report["trace_quality"]["dropped"] = 1234
        for stage in report["stages"]:
            stage["duration_s"] += 10
        (other / "report.json").write_text(json.dumps(report), encoding="utf-8")
        first = self.diff(self.usual, other).splitlines()[0]
        self.assertRegex(first, r"^\w+ \+10\.0 s \(")
        notes = [f"another machine: {os.uname().nodename}, then else<where>", "B lost 1234 events: its figures of calls are too small"]
        document = json.loads(self.diff(self.usual, other, "--json"))
        self.assertEqual((document["a"], document["b"], document["verdict"], document["notes"]), (str(self.usual), str(other), first, notes))
        self.assertNotIn("notes", json.loads(self.diff(self.usual, self.usual, "--json")))
        markdown = re.sub(r"\\([^\w\s])", r"\1", html.unescape(self.diff(self.usual, other, "--md")))  # without its escapes
        self.assertTrue(markdown.startswith(first + "\n"), markdown[:200])
        page = self.diff(self.usual, other, "--format", "html")
        tree = xml.etree.ElementTree.fromstring(page[page.index("<html"):])
        lead = " ".join("".join(tree.itertext()).split())
        for text in (" ".join(first.split()), str(self.usual), str(other), *notes):
            self.assertIn(text, lead)
            self.assertIn(text, " ".join(markdown.split()))
        self.assertEqual(tree.find("head/title").text, "comparison of two runs - proftrace")

    def test_what_cannot_be_compared(self):
        self.assertRegex(self.diff(self.usual, self.folder / "none", status=3), r"none")
        self.diff(self.usual, status=2)
        damaged = self.folder / "damaged"
        damaged.mkdir(exist_ok=True)
        (damaged / "run.json").write_text("{", encoding="utf-8")
        self.assertIn("no trace files", self.diff(self.usual, damaged, status=3))

    def test_names_are_hostile(self):
        file = self.folder / "a\x1b]0;x\x07<b>|" / "data"
        file.parent.mkdir()
        file.write_text("x", encoding="utf-8")
        runs = [self.folder / "few", self.folder / "many"]
        for run, times in zip(runs, (3, 3000)):
            program = f"import sys\nfor _ in range({times}): open(sys.argv[1]).close()"
            subprocess.run([PROFTRACE, "run", "-o", run, "--", sys.executable, "-c", program, file], check=True, capture_output=True, timeout=100)
        for form in "text", "md", "html", "json":
            said = self.diff(*runs, "--format", form)
            self.assertIn("]0;x", said)
            self.assertNotRegex(said, r"\x1b|\x07" + ("|<b>" if form in ("md", "html") else ""))


if __name__ == "__main__":
    unittest.main()
