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
import time
import unittest
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from sampled import no_samples  # noqa: E402

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE = BUILD / "proftrace"
STAGES = "prepare", "train"
# What is planted: what the line must say after the stage.
AT = r"\(stage\.py:\d+\)"
PLANTED = {
    "reads": rf"File read in load {AT}; read: \d+ x the bytes \(\S+ MiB -> \S+ GiB\)",
    "stats": rf"File metadata in look {AT}; stat: \d+ x the calls \(1,\d\d\d -> 40\d,\d\d\d\)",
    "work": rf"Python in checksum {AT}, which computes for",
    "cache": rf"Python in decode(\.<locals>\.<genexpr>)? {AT}, which computes for",
    "copies": rf"(Native|Python|Page faults) in normalise {AT}, which computes for",
    "pack": rf"(Native|Python) in pack {AT}, which computes for",
    "boxes": rf"(Python|Native|Page faults) in boxes(\.<locals>\.<listcomp>)? {AT}, which computes for",
    "small_writes": rf"File write in save {AT}; write: \d+ x the calls \(\d+ -> 800,0\d\d\)",
    "fsync": rf"File write in save {AT}; sync: the calls \(0 -> 4,000\)",
    "lock": rf"Sleep in hold {AT}",
    "sleep": rf"Sleep in pause {AT}",
    "children": rf"Child wait in helper {AT}; /bin/true: (\d+ x )?the runs \([01] -> 400\)",
    "slow_worker": rf"Own workers: it waits for workers, whose crop(\.<locals>\.<genexpr>)? {AT} computes for",
}
# By samples alone it is known whose computing it is, and whether Python does it.
SAMPLED = {"work", "cache", "copies", "pack", "boxes", "slow_worker", "more_work"}
# The line of each function in stage.py that may be named: between its "def" and the next one.
LINES = {}
for number, text in enumerate((HERE / "stage.py").read_text(encoding="utf-8").splitlines(), 1):
    if text.startswith("def "):
        LINES[text[4:text.index("(")]] = first = [number, number]
    elif LINES and text:
        first[1] = number
# What changes the wall time by less than other programs on the machine do: what the stage's line must say in the end, or before a time that
# those may have changed.
UNDER_THE_NOISE = {
    "one_read": r"read: [\d.]+ x the calls \(1,\d\d\d -> 2,\d\d\d\) of \S+/3\.bin in stage\.py:\d+ \w+((; beside that|, and) .*)?$",
    "one_open": r"open: [\d.]+ x the calls \(1,\d\d\d -> 2,\d\d\d\) of \S+/3\.bin in stage\.py:\d+ label((; beside that|, and) .*)?$",
    "more_work": rf"(CPU|Python|Native) in augment(\.<locals>\.<genexpr>)? {AT}, which computes for",
}


def clean_environment():
    return {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}


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
        # Other programs on the machine hold a run up, and one run each is no statistics: the one that was held up least.
        cls.usual = min((cls.run_pipeline(f"usual{attempt}") for attempt in range(3)), key=cls.wall_of)

    @classmethod
    def run_pipeline(cls, name, regression=""):
        done = subprocess.run([PROFTRACE, "pipeline", "--config", cls.folder / "config.json"], cwd=cls.folder, check=False,
                              env={**clean_environment(), "PROFTRACE_DIR": str(cls.folder / name), "DATA": str(cls.folder), "REGRESSION": regression}, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        return (cls.folder / name / "latest").resolve()

    @staticmethod
    def wall_of(run):
        return sum(stage["duration_s"] for stage in json.loads((run / "report.json").read_text(encoding="utf-8"))["stages"])

    def with_regression(self, name, stage, wanted, gained="."):
        """The first line of its diff against the usual run, and that of the other way round is as gained says; up to five runs of each, as some may be held up elsewhere."""
        seen = []
        for attempt in range(5):
            other = self.run_pipeline(f"{name}{attempt}", f"{stage}:{name}")
            first, back = (self.diff(*runs).splitlines()[0] for runs in ((self.usual, other), (other, self.usual)))
            if re.search(wanted, first) and re.search(gained, back):
                return first
            seen.append((first, back))
            type(self).usual = min(self.usual, self.run_pipeline(f"{name}-usual{attempt}"), key=self.wall_of)
        return self.fail(f"{name}: {wanted} and {gained} never came together: {seen}")

    def diff(self, *arguments, status=0):
        done = subprocess.run([PROFTRACE, "diff", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr if status else done.stdout


class Planted(Case):
    def line_is_of_its_function(self, said):
        function, line = re.search(r"(\w+)(?:\.<locals>\.<\w+>)? \(stage\.py:(\d+)\)", said).groups()
        self.assertTrue(LINES[function][0] <= int(line) <= LINES[function][1], said)

    def skip_what_cannot_be_seen_here(self, name):
        if name in SAMPLED and no_samples(PROFTRACE):
            self.skipTest(no_samples(PROFTRACE))
        if name == "fsync":  # on tmpfs: there `diff` rightly says nothing of 4,000 of them
            with tempfile.TemporaryFile(dir=self.folder) as file:
                began = time.monotonic()
                for _ in range(100):
                    file.write(b".")
                    file.flush()
                    os.fsync(file.fileno())
                each_s = (time.monotonic() - began) / 100
            if 4000 * each_s < 0.2:
                self.skipTest(f"an fsync takes {each_s * 1e6:.1f} us in the build folder")

    def test_the_first_line_names_stage_cause_and_place(self):
        for number, (name, wanted) in enumerate(PLANTED.items()):
            stage = STAGES[number % 2]
            with self.subTest(name):
                self.skip_what_cannot_be_seen_here(name)
                # The other way round it is what was gained.
                first = self.with_regression(name, stage, rf"^{stage} \+[\d.]+ m?s \([^)]*\): \+[\d.]+ m?s ({wanted})", gained=rf"^{stage} -[\d.]+ m?s ")
                self.line_is_of_its_function(first)

    def test_counts_tell_what_the_wall_time_cannot(self):
        for number, (name, wanted) in enumerate(UNDER_THE_NOISE.items()):
            stage = STAGES[number % 2]
            with self.subTest(name):
                self.skip_what_cannot_be_seen_here(name)
                self.with_regression(name, stage, rf"^{stage}.*{wanted}")

    def test_workers_that_read_more(self):
        """The example of the documentation, to the word."""
        if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True, check=False).returncode:
            self.skipTest("needs torch")
        (self.folder / "sample").write_bytes(bytes(range(256)) * (16 << 10))
        line = next(number for number, text in enumerate((HERE / "dataset.py").read_text(encoding="utf-8").splitlines(), 1) if "file.read(" in text)
        wanted = (rf"^train \+\S+ m?s \([^)]*\): \+\S+ m?s Data wait: it waits for workers, whose Images\.__getitem__ \(dataset\.py:{line}\) "
                  r"reads 3\.1 x the bytes \(\d\.\d+ GiB -> \d\d\.\d GiB\)")
        for attempt in range(3):
            runs = [self.train(f"usual{attempt}", ""), self.train(f"again{attempt}", "train:again")]
            first = self.diff(*runs).splitlines()[0]
            if re.search(wanted, first):
                break
        self.assertRegex(first, wanted)

    def train(self, name, regression):
        run = self.folder / f"loader-{name}"
        done = subprocess.run([PROFTRACE, "run", "--no-report", "--stage", "train", "-o", run, "--", "/usr/bin/python3", HERE / "dataset.py", self.folder / "sample"],
                              env={**clean_environment(), "REGRESSION": regression}, capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return run


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
        notes = [f"another machine: {os.uname().nodename}, then else<where>", "B lost 1234 events: its files, places and percentiles lack them, and its calls 1234"]
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

    def test_what_was_not_sampled_is_not_compared(self):
        """As of a run without a launcher: its functions did not go from all of their time to none, and its machine is not another one."""
        other = self.folder / "unsampled"
        shutil.copytree(self.usual, other)
        report = json.loads((other / "report.json").read_text(encoding="utf-8"))
        report["host"] = None
        for stage in report["stages"]:
            stage.update(cpu_s=stage["cpu_s"] + 1, python=None, cpu_functions=[], python_lines=[])
        (other / "report.json").write_text(json.dumps(report), encoding="utf-8")
        for a, b, side in ((self.usual, other, "B"), (other, self.usual, "A")):
            said = json.loads(self.diff(a, b, "--json"))
            self.assertCountEqual(said["notes"], [f"{stage}: {side} has no CPU profile: its functions are not known" for stage in STAGES])
            for stage in said["stages"]:
                self.assertFalse({"python", "native", "lines"} & set(stage), stage.keys())
            self.assertNotIn("computes for", json.dumps(said))

    def flame(self, name, rows):
        """A copy of the usual run whose first stage has this call tree: (depth, function, seconds, seconds of its own)."""
        run = self.folder / name
        shutil.copytree(self.usual, run)
        report = json.loads((run / "report.json").read_text(encoding="utf-8"))
        report["stages"][0]["cpu_flame"] = [{"depth": depth, "function": function, "kind": "python", "module": None, "frames": 1, "total_s": total, "self_s": own, "samples": 1}
                                            for depth, function, total, own in rows]
        (run / "report.json").write_text(json.dumps(report), encoding="utf-8")
        return run

    def test_the_page_draws_both_runs_side_by_side(self):
        a = self.flame("flame a", [(0, "all", 10, 0), (1, "python3", 10, 0), (2, "train", 6, 1), (3, "load", 5, 5), (2, "save", 4, 4)])
        b = self.flame("flame b", [(0, "all", 16, 0), (1, "python3 (2 threads)", 16, 0), (2, "save<", 4.1, 4.1), (2, "train", 11.9, 1), (3, "load", 3, 3), (3, "sort", 7.9, 7.9)])
        page = self.diff(f"{a}:prepare", f"{b}:prepare", "--format", "html")
        tree = xml.etree.ElementTree.fromstring(page[page.index("<html"):])
        frames = {}
        for frame in (one for one in tree.iter("svg") if one.find("title") is not None and one.find("rect") is not None and "\nA " in one.find("title").text):
            name, *_ = frame.find("title").text.splitlines()
            frames[name] = (frame.get("x"), frame.get("width"), frame.find("rect").get("class"), next(line for line in frame.find("title").text.splitlines() if line.startswith("A ")))
        # As wide as in B, the largest first, and the colour is the change: each call is held against the one below the same caller.
        self.assertEqual(frames, {"all": ("0.00%", "100.00%", "v3", "A 10.0 s, B 16.0 s: +6.00 s"), "python3 (2 threads)": ("0.00%", "100.00%", "v3", "A 10.0 s, B 16.0 s: +6.00 s"),
                                  "train": ("0.00%", "74.38%", "v3", "A 6.00 s, B 11.9 s: +5.90 s"), "sort": ("0.00%", "49.38%", "v3", "A 0 ns, B 7.90 s: +7.90 s"),
                                  "load": ("49.38%", "18.75%", "w3", "A 5.00 s, B 3.00 s: -2.00 s"), "save<": ("74.38%", "25.62%", "v3", "A 0 ns, B 4.10 s: +4.10 s")})
        # The account of both on one scale.
        bars = [row for row in tree.iter("div") if row.get("class") == "row"]
        self.assertEqual(["".join(row.find("div").itertext()) for row in bars], ["A", "B"])
        # Without samples in one of them there is nothing to hold against the other.
        self.assertNotIn("CPU flame graph", self.diff(f"{a}:prepare", f"{self.flame('flame c', [])}:prepare", "--format", "html"))

    @unittest.skipIf(no_samples(PROFTRACE), no_samples(PROFTRACE))
    def test_a_recorded_call_tree_is_in_the_report(self):
        report = json.loads((self.usual / "report.json").read_text(encoding="utf-8"))
        rows = next(stage for stage in report["stages"] if stage["stage"] == "train").get("cpu_flame")
        self.assertTrue(rows)
        self.assertEqual((rows[0]["depth"], rows[0]["function"]), (0, "all"))
        for number, row in enumerate(rows):
            below = []
            for other in rows[number + 1:]:
                if other["depth"] <= row["depth"]:
                    break
                below += [other["total_s"]] if other["depth"] == row["depth"] + 1 else []
            self.assertLessEqual(sum(below) + row["self_s"], row["total_s"] + 1e-5 * (2 + len(below)))

    def test_a_stage_that_other_programs_held_up_is_not_the_first(self):
        held_up = self.folder / "held up"
        shutil.copytree(self.usual, held_up)
        report = json.loads((held_up / "report.json").read_text(encoding="utf-8"))
        for stage in report["stages"]:
            if stage["stage"] == "prepare":
                stage["duration_s"] += 3
                stage["time"]["runnable_s"] = (stage["time"]["runnable_s"] or 0) + 2.98  # what is left is noise, however fast the machine is
            else:
                opens = next(call for call in stage["calls"] if call["call"] == "open")
                opens["calls"] *= 2
        (held_up / "report.json").write_text(json.dumps(report), encoding="utf-8")
        first, second = self.diff(self.usual, held_up).splitlines()[:2]
        self.assertRegex(first, r"^train: no difference .*, but open: 2 x the calls")
        self.assertRegex(second, r"^prepare \+3\.00 s .*Runnable")

    def test_what_cannot_be_compared(self):
        self.assertRegex(self.diff(self.usual, self.folder / "none", status=3), r"none")
        self.diff(self.usual, status=2)
        damaged = self.folder / "damaged"
        damaged.mkdir(exist_ok=True)
        (damaged / "run.json").write_text("{", encoding="utf-8")
        self.assertIn("no trace files", self.diff(self.usual, damaged, status=3))

    def test_names_are_hostile(self):
        file = self.folder / "a\x1b]0;x\x07<i>|" / "data"
        file.parent.mkdir()
        file.write_text("x", encoding="utf-8")
        runs = [self.folder / "few", self.folder / "many"]
        for run, times in zip(runs, (3, 3000)):
            program = f"import sys\nfor _ in range({times}): open(sys.argv[1]).close()"
            subprocess.run([PROFTRACE, "run", "-o", run, "--", sys.executable, "-c", program, file], check=True, capture_output=True, timeout=100)
        for form in "text", "md", "html", "json":
            said = self.diff(*runs, "--format", form)
            self.assertIn("]0;x", said)
            self.assertNotRegex(said[said.find("<body>"):], r"\x1b|\x07" + ("|<i>" if form in ("md", "html") else ""))


if __name__ == "__main__":
    unittest.main()
