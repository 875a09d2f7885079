#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`proftrace baseline` and `check`: counts of one run are enough, what cannot be compared is said with exit code 4, and git merges the file."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE = BUILD / "proftrace"
SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "export/junit.xsd"
# Reads, opens, writes and allocates as often as it is told; the last line varies from run to run.
PROGRAM = """
import os, random, sys
times, folder = int(sys.argv[1]), sys.argv[2]
for i in range(times):
    with open(sys.argv[0] if False else "/etc/hostname", "rb", buffering=0) as file: file.read()
kept = [bytearray(700) for i in range(20 * times)]
for i in range(random.randrange(50, 150)): os.lseek(0, 0, 0) if False else os.access("/", 0)
"""


def environment():
    return {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="check-")
        cls.addClassCleanup(holder.cleanup)
        cls.runs = pathlib.Path(holder.name)
        cls.usual = [cls.record(f"usual{i}", 1000) for i in range(5)]
        cls.more = cls.record("more", 1200)
        cls.fewer = cls.record("fewer", 600)

    @classmethod
    def record(cls, name, times, stage="train"):
        subprocess.run([PROFTRACE, "run", "--no-report", "-o", cls.runs / name, "--", sys.executable, "-c", PROGRAM, str(times), str(cls.runs)],
                       check=True, capture_output=True, timeout=100, env={**environment(), "PROFTRACE_STAGE": stage, "PYTHONHASHSEED": "0"})
        return cls.runs / name

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="baseline-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "baseline.json"

    def proftrace(self, *arguments, status=0):
        done = subprocess.run([PROFTRACE, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=100, cwd=self.folder, env=environment())
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr if status in (2, 3) or (status == 4 and not done.stdout) else done.stdout

    def with_baseline(self, *runs):
        self.proftrace("baseline", "add", self.file, *runs)
        return json.loads(self.file.read_text(encoding="utf-8"))

    def check(self, *runs, status=0, more=()):
        return self.proftrace("check", *runs, "--baseline", self.file, *more, status=status)


class Counts(Case):
    def test_a_run_like_the_others_is_fine(self):
        self.with_baseline(*self.usual[:4])
        self.assertTrue(self.check(self.usual[4]).startswith("ok: "))

    def test_more_reads_are_a_regression_from_one_run(self):
        self.with_baseline(*self.usual)
        said = self.check(self.more, status=1)
        first, figures = said.splitlines()[0], said
        self.assertRegex(first, r"^regression: \d+ figures are worse\. train: ")
        self.assertRegex(figures, r"WORSE +open\.calls +1,\d+ +1,\d+ +\d+ % +stable in 5 of 5")
        self.assertNotRegex(figures, r"WORSE +access\.calls")

    def test_fewer_are_better_and_no_failure(self):
        self.with_baseline(*self.usual)
        self.assertRegex(self.check(self.fewer), r"better +open\.calls")

    def test_what_varies_is_judged_by_how_much_it_varied(self):
        self.with_baseline(*self.usual[:3])
        self.assertRegex(self.check(self.usual[3]), r"not judged +access\.calls .*varies in 3 runs")

    def test_forms(self):
        self.with_baseline(*self.usual)
        rows = json.loads(self.check(self.more, status=1, more=["--format", "json"]))["stages"][0]["figures"]
        report = json.loads(self.proftrace("report", self.more, "--format", "json"))["stages"][0]
        opens = next(row for row in rows if row["figure"] == "open.calls")
        self.assertEqual(opens["now"].replace(",", ""), str(next(call["calls"] for call in report["calls"] if call["call"] == "open")))
        self.assertRegex(self.check(self.more, status=1, more=["--format", "github"]), r"^::error title=proftrace check::regression: ")
        self.assertIn("| WORSE |", self.check(self.more, status=1, more=["--format", "md"]))

    def test_cases_for_ci_systems(self):
        self.with_baseline(*self.usual[:3])
        file = self.folder / "check.xml"
        self.check(self.more, status=1, more=["--format", "junit", "-o", file])
        subprocess.run(["xmllint", "--noout", "--schema", SCHEMA, file], check=True, capture_output=True, timeout=60)
        cases = {case.get("name"): case for case in xml.etree.ElementTree.parse(file).iter("testcase")}
        self.assertRegex(cases["open.calls"].find("failure").get("message"), r"^1,\d+ -> 1,\d+ \(stable in 3 of 3 runs\)$")
        self.assertIsNotNone(cases["access.calls"].find("skipped"))
        self.check(self.more, status=4, more=["--stage", "eval", "--format", "junit", "-o", file])
        subprocess.run(["xmllint", "--noout", "--schema", SCHEMA, file], check=True, capture_output=True, timeout=60)


class Times(Case):
    def test_they_need_four_runs(self):
        self.with_baseline(*self.usual[:3])
        self.assertRegex(self.check(self.usual[3], status=4, more=["--time"]), "^undecided: ")

    def test_equal_runs_are_equal(self):
        self.with_baseline(*self.usual)
        self.assertRegex(self.check(*self.usual, more=["--time"]), r"same +wall_s .*p = ")


class InTurn(Case):
    def test_the_second_command_is_held_against_the_first(self):
        command = f"{sys.executable} -c 'for i in range(%d): open(\"/etc/hostname\").close()'"
        said = self.proftrace("check", "--ab", command % 1000, command % 1500, "--rounds", "2", status=1)
        self.assertRegex(said, r"WORSE +open\.calls +1,\d+ +1,\d+ +\d+ % +stable in 2 of 2")
        self.assertIn("ab: Figures", self.proftrace("check", "--ab", command % 1000, command % 1000, "--rounds", "2", status=4))  # times need four
        runs = sorted(path.name for path in next((self.folder / "proftrace.data").glob("ab-*")).iterdir())
        self.assertEqual(runs, ["0a", "1b", "2b", "3a"])

    def test_a_command_that_fails_is_not_compared(self):
        self.assertIn("exited with 3: only whole runs", self.proftrace("check", "--ab", "true", "exit 3", status=4))
        self.assertIn("--ab takes two commands", self.proftrace("check", "--ab", "true", status=2))


class Pipeline(Case):
    def pipeline(self, times, *more, status=0):
        stage = {"stage": "train", "cmd": [sys.executable, "-c", PROGRAM, str(times), str(self.runs)], "env": {"PYTHONHASHSEED": "0"}}
        (self.folder / "config.json").write_text(json.dumps({"profile": {"stages": [stage]}}), encoding="utf-8")
        return self.proftrace("pipeline", "--config", "config.json", *more, status=status)

    def test_a_pipeline_is_held_against_its_baseline(self):
        for _ in range(3):
            self.pipeline(1000)
            self.proftrace("baseline", "add", self.file, self.folder / "proftrace.data/latest")
        self.assertTrue(self.pipeline(1000, "--baseline", self.file).startswith("ok: "))
        self.assertRegex(self.pipeline(1300, "--baseline", self.file, status=1), r"^regression: .*\n\ntrain: Figures\n")
        self.assertRegex(self.pipeline(1300, "--baseline", self.file, "--ci", "github", status=1), r"(?m)^::error title=proftrace check::regression: ")

    def test_a_baseline_that_cannot_be_read_is_said_before_anything_runs(self):
        self.assertIn("makes one", self.pipeline(1000, "--baseline", self.folder / "none.json", status=2))
        self.assertFalse((self.folder / "proftrace.data").exists())


class Undecided(Case):
    def edited(self, change):
        baseline = self.with_baseline(*self.usual)
        for run in baseline["stages"]["train"]:
            change(run)
        self.file.write_text(json.dumps(baseline), encoding="utf-8")

    def test_other_circumstances(self):
        for change, words, more in ((lambda run: run.update(tool="proftrace 0.0.9"), "another version of proftrace: the baseline has proftrace 0.0.9", []),
                                    (lambda run: run.update(dataset="large"), "another dataset: the baseline has large, the run none", []),
                                    (lambda run: run.update(cpus=96), "another machine: the baseline has 96 CPUs", []),
                                    (lambda run: run.update(host="elsewhere"), "another machine: the baseline has elsewhere", ["--time"])):
            with self.subTest(words):
                self.file.unlink(missing_ok=True)
                self.edited(change)
                self.assertIn(words, self.check(self.usual[0], status=4, more=more).splitlines()[0])

    def test_a_stage_that_the_baseline_has_not(self):
        self.with_baseline(*self.usual)
        self.assertIn("no run of this stage", self.check(self.record("other", 10, stage="other"), status=4))

    def test_a_failed_run_is_no_baseline(self):
        subprocess.run([PROFTRACE, "run", "--no-report", "-o", self.folder / "failed", "--", "sh", "-c", "exit 3"], capture_output=True, check=False, timeout=100)
        self.with_baseline(*self.usual)
        before = self.file.read_bytes()
        self.assertIn("is failed", self.proftrace("baseline", "add", self.file, self.folder / "failed", status=4))
        self.assertEqual(self.file.read_bytes(), before)


class File(Case):
    def test_bad_files(self):
        self.with_baseline(self.usual[0])
        good = self.file.read_text(encoding="utf-8")
        for text, words in ((good[:200], "line"), ("[]", "is no baseline"), (good.replace('"1.0"', '"2.0"'), "a newer one is needed"),
                            (good.replace('"wall_s":', '"wall_s":"much","x":'), "no figures that are numbers"), ("", "line")):
            with self.subTest(words):
                self.file.write_text(text, encoding="utf-8")
                self.assertIn(words, self.check(self.usual[0], status=3))
                self.assertIn(words, self.proftrace("baseline", "add", self.file, self.usual[0], status=3))
                self.assertEqual(self.file.read_text(encoding="utf-8"), text)
        self.file.unlink()
        self.assertIn("`proftrace baseline add", self.check(self.usual[0], status=2))
        self.assertIn("--baseline FILE is missing", self.proftrace("check", self.usual[0], status=2))
        self.assertIn("none of add, show and prune", self.proftrace("baseline", "ad", self.file, status=2))

    def test_unknown_members_stay(self):
        baseline = self.with_baseline(self.usual[0])
        baseline["policy"] = {"mine": 1}
        baseline["stages"]["train"][0]["note"] = "x"
        self.file.write_text(json.dumps(baseline), encoding="utf-8")
        after = self.with_baseline(self.usual[1])
        self.assertEqual((after["policy"], after["stages"]["train"][1]["note"]), ({"mine": 1}, "x"))

    def test_adding_twice_is_adding_once_and_old_runs_go(self):
        self.with_baseline(*self.usual)
        runs = self.with_baseline(self.usual[0])["stages"]["train"]
        self.assertEqual(len(runs), 5)
        self.proftrace("baseline", "prune", self.file, "--keep", "2")
        self.assertEqual(json.loads(self.file.read_text(encoding="utf-8"))["stages"]["train"], runs[:2])
        self.assertEqual(self.proftrace("baseline", "show", self.file).count("usual"), 2)

    def test_branches_that_add_different_stages_merge(self):
        def git(*arguments):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=self.folder, check=True, capture_output=True)
        other = [self.record(f"evaluate{i}", 10, stage="evaluate") for i in range(2)]
        git("init", "-q", "-b", "main")
        self.with_baseline(self.usual[0], other[0])
        git("add", "baseline.json")
        git("commit", "-qm", "first")
        git("checkout", "-qb", "one")
        self.with_baseline(self.usual[1])
        git("commit", "-qam", "train")
        git("checkout", "-q", "main")
        self.with_baseline(other[1])
        git("commit", "-qam", "evaluate")
        git("merge", "-q", "one", "-m", "both")
        stages = json.loads(self.file.read_text(encoding="utf-8"))["stages"]
        self.assertEqual({name: len(runs) for name, runs in stages.items()}, {"train": 2, "evaluate": 2})


if __name__ == "__main__":
    unittest.main()
