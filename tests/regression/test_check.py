#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`proftrace baseline` and `check`: counts of one run are enough, what cannot be compared is said with exit code 4, and git merges the file."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE = BUILD / "proftrace"
SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "export/junit.xsd"
# Reads, opens, writes and allocates as often as it is told; what the last line does varies from run to run, by as much each time: a
# fifth run beyond four that chance had put close together would be worse than these.
ACCESSES = (60, 140, 90, 130, 110)
PROGRAM = """
import os, sys
times, accesses = int(sys.argv[1]), int((sys.argv[3:] or [100])[0])
for i in range(times):
    with open(sys.argv[0] if False else "/etc/hostname", "rb", buffering=0) as file: file.read()
kept = [bytearray(700) for i in range(20 * times)]
for i in range(accesses): os.access("/", 0)
"""


def environment():
    return {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}


def runs_of(baseline, stage=None):
    """The lines of runs: those between them are texts."""
    return [run for run in baseline["runs"] if isinstance(run, dict) and stage in (None, run["stage"])]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="check-")
        cls.addClassCleanup(holder.cleanup)
        cls.runs = pathlib.Path(holder.name)
        cls.usual = [cls.record(f"usual{i}", 1000, accesses=n) for i, n in enumerate(ACCESSES)]
        cls.more = cls.record("more", 1200)
        cls.fewer = cls.record("fewer", 600)

    @classmethod
    def record(cls, name, times, stage="train", accesses=100):
        subprocess.run([PROFTRACE, "run", "--no-report", "-o", cls.runs / name, "--", sys.executable, "-c", PROGRAM, str(times), str(cls.runs), str(accesses)],
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
        return self.written()

    def written(self):
        return json.loads(self.file.read_text(encoding="utf-8"))

    def rewrite(self, change):
        """The baseline, with each of its runs changed by hand."""
        baseline = self.written()
        for number, run in enumerate(runs_of(baseline)):
            change(number, run)
        self.file.write_text(json.dumps(baseline), encoding="utf-8")

    def doctored(self, change):
        run = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "run"
        shutil.copytree(self.usual[0], run)
        report = json.loads(self.proftrace("report", run, "--format", "json"))
        change(report)
        (run / "report.json").write_text(json.dumps(report), encoding="utf-8")
        return run

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

    def test_the_first_line_names_a_call_and_not_what_follows_from_it(self):
        """One more file for each sample: 20 % more calls, and what was allocated for them, of which there is more."""
        self.with_baseline(*self.usual[:3])
        run = self.folder / "run"
        shutil.copytree(self.usual[3], run)
        report = json.loads(self.proftrace("report", run, "--format", "json"))
        report["stages"][0]["heap"].update(bytes=20 * report["stages"][0]["heap"]["bytes"], allocs=20 * report["stages"][0]["heap"]["allocs"])
        for call in report["stages"][0]["calls"]:
            call["calls"] *= {"open": 3, "close": 2}.get(call["call"], 1)
        (run / "report.json").write_text(json.dumps(report), encoding="utf-8")
        said = self.check(run, status=1)
        self.assertRegex(said, r"^regression: \d figures are worse\. train: open\.calls ")
        self.assertRegex(said, r"WORSE +open\.calls .*\nWORSE +close\.calls .*\nWORSE +heap\.")

    def test_fewer_are_better_and_no_failure(self):
        self.with_baseline(*self.usual)
        self.assertRegex(self.check(self.fewer), r"better +open\.calls")

    def test_what_varies_is_judged_by_how_much_it_varied(self):
        self.with_baseline(*self.usual[:3])
        said = self.check(self.usual[3])
        self.assertRegex(said, r"not judged +access\.calls .*varies in 3 runs")
        self.assertRegex(said, r"^ok: none of the \d+ figures that could be judged is worse; \d+ w(as|ere) not judged\n")
        # Far outside of what it varied by, nobody can tell: it was "ok".
        many = self.doctored(lambda report: next(call for call in report["stages"][0]["calls"] if call["call"] == "access").update(calls=10000))
        self.assertRegex(self.check(many, status=4), r"^undecided: train: access\.calls: varies in 3 runs\n")

    def test_a_change_that_was_accepted_leaves_no_room_for_more(self):
        """Held against both levels, four times as much were "same"."""
        for before, after, now, how in ((19, 1, 3900, "stable in 19 of 20 runs"), (10, 10, 2100, "stable in the last 10")):
            self.file.unlink(missing_ok=True)
            self.with_baseline(self.usual[0])
            entry = runs_of(self.written())[0]
            history = [{**entry, "run": f"r{i:02}", "at_utc": f"2026-10-{i + 1:02}T10:00:00Z", "figures": {**entry["figures"], "access.calls": 1000 if i < before else 2000}}
                       for i in range(before + after)]
            self.file.write_text(json.dumps({"schema_version": "2.0", "runs": history}), encoding="utf-8")
            with self.subTest(how):
                def made(report, calls=now):
                    next(call for call in report["stages"][0]["calls"] if call["call"] == "access")["calls"] = calls
                said = self.check(self.doctored(made), status=1)
                self.assertRegex(said, rf"WORSE +access\.calls .*{how}")
                self.check(self.doctored(lambda report: made(report, 2000)))

    def test_forms(self):
        self.with_baseline(*self.usual)
        result = json.loads(self.check(self.more, status=1, more=["--format", "json"]))
        rows = {row["figure"]: row for row in result["stages"][0]["figures"]}
        report = json.loads(self.proftrace("report", self.more, "--format", "json"))["stages"][0]
        self.assertEqual(rows["open.calls"]["run_count"], next(call["calls"] for call in report["calls"] if call["call"] == "open"))
        self.assertEqual(rows["heap.bytes"]["run_bytes"], report["heap"]["bytes"])
        self.assertEqual((rows["open.calls"]["verdict"], rows["open.calls"]["baseline_runs"], rows["open.calls"]["runs"]), ("worse", 5, 1))
        self.assertAlmostEqual(rows["open.calls"]["more_percent"], 100 * (rows["open.calls"]["run_count"] / rows["open.calls"]["baseline_count"] - 1), places=6)
        self.assertEqual((result["verdict"], result["exit_code"]), ("worse", 1))
        self.assertTrue(result["summary"].startswith(f"regression: {len(result['worse'])} figures are worse. {result['worse'][0]}"))
        self.assertEqual(json.loads(self.check(self.usual[0], more=["--format", "json"]))["verdict"], "ok")
        undecided = json.loads(self.check(self.usual[0], status=4, more=["--format", "json", "--stage", "none"]))
        self.assertEqual((undecided["verdict"], undecided["exit_code"], len(undecided["undecided"])), ("undecided", 4, 1))
        self.assertRegex(self.check(self.more, status=1, more=["--format", "github"]), r"^::error title=proftrace check::regression: ")
        self.assertRegex(self.check(self.more, status=1, more=["--format", "md"]), r"^regression: (.*\n)*\| WORSE \|")

    def test_a_verdict_for_github_is_one_line_of_text(self):
        """A name of the baseline is somebody's, and a log is shown in terminals, too."""
        self.with_baseline(*self.usual)
        name = "tr\n::set-env::%0a\x1b[31m\x9b31m"
        self.file.write_text(json.dumps(self.written()).replace('"train"', json.dumps(name)), encoding="utf-8")

        def worse(report):
            report["stages"][0]["stage"] = name
            for call in report["stages"][0]["calls"]:
                call["calls"] *= 3
        said = self.check(self.doctored(worse), status=1, more=["--format", "github"])
        self.assertRegex(said, r"\A::error title=proftrace check::regression: .*tr.*%250a.*\n\Z")
        self.assertTrue(said.rstrip("\n").isprintable(), said)

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


    def test_files_requests_and_processes(self):
        for number in range(30):
            (self.folder / f"{number}.txt").write_text("x", encoding="utf-8")
        server = subprocess.Popen([sys.executable, "-c", "import http.server\nserver = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n"
                                   "print(server.server_port, flush=True)\nserver.serve_forever()"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (server.kill(), server.communicate()))
        port = server.stdout.readline().strip()
        program = ("import subprocess, sys, urllib.request\nfiles, requests, children = map(int, sys.argv[1:4])\n"
                   "for _ in range(3):\n for i in range(files): open(f'{sys.argv[5]}/{i}.txt').read()\n"
                   "for i in range(requests): urllib.request.urlopen(f'http://127.0.0.1:{sys.argv[4]}/1.txt').read()\n"
                   "for i in range(children): subprocess.run(['/bin/true'])\n")

        def run(*numbers):
            name = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "run"
            subprocess.run([PROFTRACE, "run", "--no-report", "-o", name, "--", sys.executable, "-c", program, *map(str, numbers), port, self.folder],
                           check=True, capture_output=True, timeout=100, env={**environment(), "PROFTRACE_STAGE": "fetch", "PYTHONHASHSEED": "0"})
            return name
        self.with_baseline(run(10, 20, 1), run(10, 20, 1))
        figures = runs_of(self.written())[0]["figures"]
        self.assertEqual(figures["requests"], 20)
        for numbers, figure in (((30, 20, 1), "files.opened"), ((10, 35, 1), "requests"), ((10, 20, 5), "processes")):
            self.assertRegex(self.check(run(*numbers), status=1), rf"WORSE +{figure} ")


class Times(Case):
    def test_they_need_four_runs(self):
        self.with_baseline(*self.usual[:3])
        self.assertRegex(self.check(self.usual[3], status=4, more=["--time"]), "^undecided: ")

    def test_one_run_named_often_counts_once(self):
        self.with_baseline(*self.usual)
        link = self.folder / "latest"
        link.symlink_to(self.usual[0])
        for again in (self.usual[0], link, self.usual[0] / "."):
            said = self.check(self.usual[0], again, again, again, status=4, more=["--time"])
            self.assertRegex(said, r"^undecided: train: wall_s: needs 4 runs on both sides, and there are 5 and 1\n")
            self.assertIn("3 of the runs were named more than once, and count once", said)

    def test_a_time_is_held_against_its_last_level(self):
        """Two levels in the baseline: the accepted one was a regression, for half of the runs are faster."""
        self.with_baseline(self.usual[0])
        entry = runs_of(self.written())[0]
        del entry["figures"]["cpu_s"]
        history = [{**entry, "run": f"r{i:02}", "at_utc": f"2026-10-{i + 1:02}T10:00:00Z", "figures": {**entry["figures"], "wall_s": (10 if i < 8 else 20) + i / 100}} for i in range(16)]
        self.file.write_text(json.dumps({"schema_version": "2.0", "runs": history}), encoding="utf-8")
        of = lambda seconds: [self.doctored(lambda report, i=i: (report["stages"][0].update(duration_s=seconds + i / 100, cpu_s=None), report.update(run=f"new{i}"))) for i in range(5)]  # noqa: E731
        self.assertRegex(self.check(*of(20.1), more=["--time"]), r"^ok: (.*\n)+same +wall_s +20\.1 s +20\.1 s ")
        self.assertRegex(self.check(*of(23), status=1, more=["--time"]), r"^regression: 1 figure is worse\. train: wall_s 20\.1 s -> 23\.0 s ")

    def test_equal_runs_are_equal(self):
        self.with_baseline(*self.usual)
        self.assertRegex(self.check(*self.usual, more=["--time"]), r"same +wall_s .*p = ")


    def times(self, stages, candidates):
        """A check of made-up times: {stage: times of the baseline}, and those of the runs that are checked."""
        def run(number, figures):
            return {"run": f"r{number}", "at_utc": f"2026-01-{number + 1:02}T00:00:00Z", "host": "lab", "cpus": 2, "tool": "hyperfine", "dataset": None, "figures": figures}
        self.file.write_text(json.dumps({"schema_version": "1.0", "stages": {stage: [run(i, {"benchmark_s": value}) for i, value in enumerate(values)]
                                                                              for stage, values in stages.items()}}), encoding="utf-8")
        self.rewritten = self.folder / "result.json"
        self.rewritten.write_text(json.dumps({"benchmarks": [{"fullname": stage, "stats": {"data": values}} for stage, values in candidates.items()],
                                              "machine_info": {"node": "lab"}}), encoding="utf-8")
        return self.rewritten

    def test_chance_has_as_many_tries_as_there_are_times_of_all_stages(self):
        # 5 against 5 with one pair in the wrong order: p = 0.008 by itself, and 0.008 times as many as are tested.
        low, high = [1.0, 1.1, 1.2, 1.3, 1.55], [1.5, 1.6, 1.7, 1.8, 1.9]
        equal = [1.0, 1.1, 1.2, 1.3, 1.4]
        def verdict(n_others, status):
            others = {f"other{i}": equal for i in range(n_others)}
            run = self.times({"one": low, **others}, {"one": high, **others})
            baseline = json.loads(self.file.read_text(encoding="utf-8"))
            for runs in baseline["stages"].values():
                for entry in runs:
                    entry["tool"] = "pytest-benchmark"
            self.file.write_text(json.dumps(baseline), encoding="utf-8")
            return json.loads(self.check(run, status=status, more=["--format", "json"]))
        alone = verdict(0, 1)
        p = alone["stages"][0]["figures"][0]["p"]
        self.assertAlmostEqual(p, 2 / 252, places=9)
        among = verdict(9, 0)
        self.assertAlmostEqual(next(stage for stage in among["stages"] if stage["stage"] == "one")["figures"][0]["p"], 10 * p, places=9)

    def test_more_runs_than_are_looked_at(self):
        """Counts that all of them know are judged."""
        self.with_baseline(*self.usual)
        many = [self.runs / f"many{i}" for i in range(62)]
        for path in many:
            path.symlink_to(self.more)
        self.assertIn("WORSE", self.check(*many, status=1))

    def test_a_threshold(self):
        self.with_baseline(*self.usual)
        self.check(self.more, status=1, more=["--threshold", "5"])
        self.check(self.more, more=["--threshold", "50"])
        self.check(self.more, more=["--threshold", "50%"])
        self.assertIn("--threshold takes a number of percent", self.check(self.more, status=2, more=["--threshold", "much"]))


class InTurn(Case):
    def test_the_second_command_is_held_against_the_first(self):
        command = f"{sys.executable} -c 'for i in range(%d): open(\"/etc/hostname\").close()'"
        said = self.proftrace("check", "--ab", command % 1000, command % 1500, "--rounds", "2", status=1)
        self.assertRegex(said, r"WORSE +open\.calls +1,\d+ +1,\d+ +\d+ % +stable in 2 of 2")
        self.assertIn("ab: Figures", self.proftrace("check", "--ab", command % 1000, command % 1000, "--rounds", "2", status=4))  # times need four
        runs = sorted(path.name for path in next((self.folder / "proftrace.data").glob("ab-*")).iterdir())
        self.assertEqual(runs, ["0a", "1b", "2b", "3a"])

    def test_what_is_near_is_played_again(self):
        # One run says nothing of 8 % more: how much does it vary? Twice as many say that it does not.
        command = f"{sys.executable} -c 'for i in range(%d): open(\"/etc/hostname\").close()'"
        once = self.proftrace("check", "--ab", command % 2000, command % 2160, "--rounds", "1", status=4)
        self.assertRegex(once, r"same +open\.calls .*one run")
        again = self.proftrace("check", "--ab", command % 2000, command % 2160, "--rounds", "1", "--confirm", status=1)
        self.assertRegex(again, r"WORSE +open\.calls .*stable in 2 of 2")

    def test_where_its_runs_lie(self):
        subprocess.run([PROFTRACE, "check", "--ab", "true", "true", "--rounds", "1"], capture_output=True, check=False, timeout=100,
                       cwd=self.folder, env={**environment(), "PROFILE_OUTPUT_DIR": "kept/here/"})
        self.assertEqual(len(list((self.folder / "kept/here").glob("ab-*"))), 1)
        self.assertFalse((self.folder / "proftrace.data").exists())

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

    def test_its_baseline_may_come_through_a_pipe(self):
        """Which can be read only once: not when the pipeline begins and again when it has ended."""
        self.pipeline(1000)
        self.proftrace("baseline", "add", self.file, self.folder / "proftrace.data/latest")
        done = subprocess.run(["bash", "-c", f"{PROFTRACE} pipeline --config config.json --baseline <(cat {self.file})"], cwd=self.folder, env=environment(),
                              capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual((done.returncode, done.stdout[:4]), (0, "ok: "), done.stdout + done.stderr)

    def test_stages_that_were_not_asked_for_are_no_matter(self):
        work = {"cmd": [sys.executable, "-c", PROGRAM, "1000", str(self.runs)], "env": {"PYTHONHASHSEED": "0"}}
        stages = [{"stage": "prepare", **work}, {"stage": "label", "skip": "needs people"}, {"stage": "train", **work}]
        (self.folder / "config.json").write_text(json.dumps({"profile": {"stages": stages}}), encoding="utf-8")
        for _ in range(2):
            self.proftrace("pipeline", "--config", "config.json")
            self.proftrace("baseline", "add", self.file, self.folder / "proftrace.data/latest")
        self.assertEqual(sorted(run["stage"] for run in runs_of(self.written())), ["prepare", "prepare", "train", "train"])
        for option, left_out in (("--only", "prepare"), ("--skip", "train"), ("--from", "prepare")):
            ran = "train" if left_out == "prepare" else "prepare"
            said = self.proftrace("pipeline", "--config", "config.json", option, left_out if option == "--skip" else ran, "--baseline", self.file)
            self.assertRegex(said, r"^ok: ")
            self.assertIn(f"note: {left_out} is not compared: not selected ({option})", said)
            self.assertIn("note: label is not compared: needs people", said)
        # But a stage that was only not reached is missed.
        (self.folder / "config.json").write_text(json.dumps({"profile": {"stages": [{"stage": "prepare", "cmd": ["false"]}, *stages[1:]]}}), encoding="utf-8")
        self.proftrace("pipeline", "--config", "config.json", "--baseline", self.file, status=1)
        self.assertRegex(self.check(self.folder / "proftrace.data/latest", status=4), r"^undecided: prepare: stage prepare is failed(.*\n)+train: Cannot be told\n +stage train is skipped")

    def test_the_script_for_ci(self):
        """profile-pipeline --ci github: annotations on stdout, report.md begins with the verdict, and the step's summary has report and check."""
        scripts = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"
        for name in "profile-pipeline", "pipeline-profile":
            shutil.copy(scripts / name, self.folder)
        for _ in range(3):
            self.pipeline(1000)
            self.proftrace("baseline", "add", self.file, self.folder / "proftrace.data/latest")
        for times, status, verdict in ((1000, 0, "ok: no"), (1300, 1, "regression: ")):
            self.pipeline(times)
            summary = self.folder / f"summary{times}.md"
            done = subprocess.run(["./profile-pipeline", "--ci", "github", "--baseline", self.file], cwd=self.folder, capture_output=True, text=True, timeout=100, check=False,
                                  env={**environment(), "PATH": f"{BUILD}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(summary)})
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stdout, rf"(?m)^::{'error' if status else 'notice'} title=proftrace check::{verdict}")
            for report in self.folder / "profiles/report.md", self.folder / "proftrace.data/latest/report.md":
                text = report.read_text(encoding="utf-8")
                self.assertRegex(text, rf"\A{verdict}[^\n]+\n\n# Pipeline Profile Report\n")
            self.assertTrue(summary.read_text(encoding="utf-8").startswith(text))
            self.assertRegex(summary.read_text(encoding="utf-8")[len(text):], rf"\A\n{verdict}(.*\n)*## train\n(.*\n)*\| {'WORSE' if status else 'same'} \| ")

    def test_without_a_baseline_the_report_begins_with_its_title(self):
        self.pipeline(10)
        self.assertTrue((self.folder / "proftrace.data/latest/report.md").read_text(encoding="utf-8").startswith("# Pipeline Profile Report"))

    def test_a_baseline_that_cannot_be_read_is_said_before_anything_runs(self):
        self.assertIn("makes one", self.pipeline(1000, "--baseline", self.folder / "none.json", status=2))
        self.assertFalse((self.folder / "proftrace.data").exists())


class Undecided(Case):
    def test_other_circumstances(self):
        for change, words, more in ((lambda run: run.update(tool="proftrace 0.0.9"), "another version of proftrace: the baseline has proftrace 0.0.9", []),
                                    (lambda run: run.update(dataset="large"), "another dataset: the baseline has large, the run none", []),
                                    (lambda run: run.update(cpus=96), "another machine: the baseline has 96 CPUs", []),
                                    (lambda run: run.update(host="elsewhere"), "another machine: the baseline has elsewhere", ["--time"])):
            with self.subTest(words):
                self.file.unlink(missing_ok=True)
                self.with_baseline(*self.usual)
                self.rewrite(lambda _, run, change=change: change(run))
                self.assertIn(words, self.check(*self.usual[:1] * (4 if more else 1), status=4, more=more).splitlines()[0])

    def test_runs_of_other_circumstances_are_left_out_of_the_baseline(self):
        self.with_baseline(*self.usual)
        # Two of five runs are of another dataset, and would make the count of opens one that varies.
        self.rewrite(lambda number, run: number in (1, 3) and (run.update(dataset="large"), run["figures"].update({"open.calls": 90000})))
        said = self.check(self.more, status=1)
        self.assertRegex(said, r"WORSE +open\.calls .*stable in 3 of 3")
        self.assertIn("2 of 5 runs of the baseline are left out: another dataset: the baseline has large, the run none", " ".join(said.split()))

    def test_times_of_another_machine_are_not_taken(self):
        self.with_baseline(*self.usual)
        self.rewrite(lambda number, run: number < 2 and run.update(host="elsewhere"))
        said = self.check(*self.usual, status=4, more=["--time"])  # three are left, and four are needed
        self.assertRegex(said, r"^undecided: train: wall_s: needs 4 runs on both sides, and there are 3 and 5\n")
        self.assertRegex(said, r"same +open\.calls .*stable in 5 of 5")

    def test_a_count_is_told_where_times_cannot_be(self):
        self.with_baseline(*self.usual)
        self.rewrite(lambda _, run: run.update(host="elsewhere"))
        said = self.check(self.more, self.more, self.more, self.more, status=1, more=["--time"])
        self.assertRegex(said, r"not judged +wall_s +- .*another machine:")

    def test_candidates_of_several_circumstances(self):
        self.with_baseline(*self.usual)
        for key, words in (("dataset", "another dataset: run 1 has none, run 2 large"), ("host", "another machine: run 1 has ")):
            other = self.folder / f"other-{key}"
            shutil.copytree(self.usual[1], other)
            report = json.loads(self.proftrace("report", other, "--format", "json"))
            report.update({key: "large"})
            (other / "report.json").write_text(json.dumps(report), encoding="utf-8")
            self.assertIn(words, self.check(self.usual[0], other, status=4, more=["--time"]).splitlines()[0])

    def test_a_stage_that_the_run_has_not(self):
        self.with_baseline(*self.usual, self.record("evaluated", 10, stage="evaluate"))
        said = self.check(self.usual[0], status=4)
        self.assertRegex(said, r"^undecided: evaluate: the run has no such stage, and the baseline has")
        self.assertRegex(said, r"same +open\.calls")  # what is known is told
        self.check(self.usual[0], more=["--stage", "train"])
        self.assertRegex(self.check(self.more, status=1), "^regression: ")

    def test_a_run_without_stages(self):
        self.with_baseline(*self.usual)
        empty = self.folder / "empty"
        shutil.copytree(self.usual[0], empty)
        report = json.loads(self.proftrace("report", empty, "--format", "json"))
        report["stages"] = []
        (empty / "report.json").write_text(json.dumps(report), encoding="utf-8")
        self.assertRegex(self.check(empty, status=4), "^undecided: train: the run has no such stage")
        self.file.write_text('{"schema_version": "2.0", "runs": []}', encoding="utf-8")
        self.assertRegex(self.check(empty, status=4), "^undecided: there is no stage")

    def test_lost_events(self):
        """A run that is longer than its ring has all of its calls in totals; only what is made of events is unknown."""
        self.with_baseline(*self.usual)
        lost = self.doctored(lambda report: report["trace_quality"].update(overwritten=report["trace_quality"]["events"]))
        said = self.check(lost, status=4)
        self.assertRegex(said, r"^undecided: train: files\.opened: not known in the run\n(.*\n)*same +open\.calls ")
        worse = self.doctored(lambda report: (report["trace_quality"].update(overwritten=report["trace_quality"]["events"]),
                                              next(call for call in report["stages"][0]["calls"] if call["call"] == "open").update(calls=5000)))
        self.assertRegex(self.check(worse, status=1), r"^regression: 1 figure is worse\. train: open\.calls ")
        self.assertNotIn("calls", next(line for line in self.proftrace("diff", self.usual[1], lost).splitlines() if "lost" in line))
        # Against its like nothing is unknown.
        self.file.unlink()
        self.with_baseline(lost)
        self.assertRegex(runs_of(self.written())[0]["unknown"]["files.opened"], r"^\d+ events were lost$")
        self.check(lost)
        self.assertRegex(self.check(worse, status=1), "^regression: 1 figure is worse")
        few = self.doctored(lambda report: report["trace_quality"].update(dropped=1, events=10000))
        self.check(few)

    def test_lost_events_that_are_in_no_total(self):
        self.with_baseline(*self.usual)
        def drop(report, reason):
            report["trace_quality"]["dropped"] = report["processes"][0]["events"]["dropped"] = report["trace_quality"]["events"]
            report["processes"][0]["events"]["drop_reasons"] = {reason: report["trace_quality"]["events"]}
        lost = self.doctored(lambda report: drop(report, "no_thread_slot"))
        self.assertRegex(self.check(lost, status=4), r"^undecided: train: \d+ events were lost: counts are too small")
        self.assertIn("events were lost", self.proftrace("baseline", "add", self.file, lost, status=4))
        self.assertRegex(self.check(self.doctored(lambda report: drop(report, "no_space")), status=4), r"^undecided: train: files\.opened: not known in the run\n")

    def test_an_end_that_nobody_saw(self):
        """A stage that became a program without a trace is ok, but maybe half of it: fewer calls passed as better, and went into the baseline."""
        self.with_baseline(*self.usual)
        reason = "it became another program, whose trace is not here"
        half = self.doctored(lambda report: report["stages"][0].update(status="ok", exit=None, exit_reason=reason, reason=reason))
        self.assertRegex(self.check(half, status=4), rf"^undecided: train: how stage train ended is not known, .*: {reason}")
        self.assertIn("is not known", self.proftrace("baseline", "add", self.file, half, status=4))

    def broken(self, change):
        """A run of which the program's own trace file is changed, and no report was kept."""
        run = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "run"
        shutil.copytree(self.usual[0], run)
        (run / "report.json").unlink(missing_ok=True)
        change(max(run.glob("*.ptr"), key=lambda file: file.stat().st_size))
        return run

    @staticmethod
    def damage(file):
        content = file.read_bytes()
        middle = slice(len(content) // 5, len(content) // 2)
        file.write_bytes(content[:middle.start] + b"\xa5" * (middle.stop - middle.start) + content[middle.stop:])

    def test_trace_files_that_are_not_whole(self):
        self.with_baseline(*self.usual)
        # Nothing of what the heap did: only the calls could tell, and fewer of them are no regression.
        self.rewrite(lambda _, run: [run["figures"].pop(name) for name in list(run["figures"]) if name.startswith("heap.")])
        before = self.file.read_bytes()
        for change, words in ((pathlib.Path.unlink, "1 trace file is missing"), (lambda file: os.truncate(file, 5000), "1 trace file is cut short"),
                              (lambda file: file.write_bytes(b"x" * 9000), "1 trace file is missing")):
            run = self.broken(change)
            with self.subTest(words):
                self.assertRegex(self.check(run, status=4), rf"^undecided: train: {words}: counts may be too small")
                self.assertIn(words, self.proftrace("baseline", "add", self.file, run, status=4))
                self.assertEqual(self.file.read_bytes(), before)
                self.assertIn(f"B is not whole: {words}", self.proftrace("diff", self.usual[1], run))
        # Where the middle of it is noise, either the damage is seen, or events are not found that were counted.
        noise = self.broken(self.damage)
        for said in self.check(noise, status=4), self.proftrace("baseline", "add", self.file, noise, status=4):
            self.assertRegex(said, r"(1 trace file is damaged|events were lost): counts (are|may be) too small")
        # Of several processes the one that began small, and of which the beginning is there still; and all that stayed small.
        made = self.folder / "made"
        subprocess.run([PROFTRACE, "run", "--no-report", "-o", made, "--", "sh", "-c", f"{sys.executable} -c 'for i in range(3000): open(\"/etc/hostname\").close()'; true"],
                       check=True, capture_output=True, timeout=100, env=environment())
        quality = json.loads(self.proftrace("report", made, "--format", "json"))["trace_quality"]
        self.assertFalse({"cut_files", "damaged_files", "missing_files"} & set(quality))
        # DVC, git-annex and Nix make runs of links.
        links = self.folder / "links"
        links.mkdir()
        for file in made.iterdir():
            (links / file.name).symlink_to(file)
        linked, straight = (json.loads(self.proftrace("report", run, "--format", "json")) for run in (links, made))
        self.assertEqual(linked["trace_quality"], quality)
        self.assertEqual(linked["stages"][0]["time"], straight["stages"][0]["time"])
        # A process that got a file of its own between the list of files and the reading of the shared one is in both.
        renamed = self.folder / "renamed"
        shutil.copytree(made, renamed)
        next(renamed.glob("*.ptr")).rename(renamed / "x.ptr")
        self.assertEqual(json.loads(self.proftrace("report", renamed, "--format", "json"))["trace_quality"], quality)
        # Nothing counts what is missing then: a copy of the files of processes alone, and one that a power cut left full of zeros.
        for number, change in enumerate((pathlib.Path.unlink, lambda file: file.write_bytes(bytes(4096)))):
            uncounted = self.folder / f"uncounted{number}"
            shutil.copytree(made, uncounted)
            change(uncounted / "session.bin")
            self.assertEqual(json.loads(self.proftrace("report", uncounted, "--format", "json"))["trace_quality"]["missing_files"], 1)
            self.assertIn("session.bin is missing or damaged", self.proftrace("report", uncounted, "--full"))
        # A child that was forked names its parent, also where no session.bin and no launcher counts.
        pair = self.folder / "pair"
        story = self.folder / "pair.txt"
        process = 'process {0} ppid=1 uid=1000 trace_id={0} {1} start=0.000000000 end=1.000000000 state=exited exit_status=0 heap=off boot="b" host="h" comm="x" exe="/x" cwd="/" argc=1 argv=["x"]'
        story.write_text("\n".join(["proftrace-text 1 start_realtime_ns=1705320000000000000", process.format(5, "parent_trace_id=9"), process.format(6, "parent_trace_id=9"), process.format(7, "parent_trace_id=5"), ""]))
        self.proftrace("assemble", story, "-o", pair)
        quality = json.loads(self.proftrace("report", pair, "--format", "json"))["trace_quality"]
        self.assertEqual(quality["missing_files"], 1)
        self.assertIn("1 trace file of processes that forked others is missing or cannot be read: what these inherited has no name", quality["notes"])
        (pair / "x-9-00000009.ptr").touch()  # of an unrelated process, killed at its start
        self.assertIn("1 trace file of processes that forked others is missing", json.dumps(json.loads(self.proftrace("report", pair, "--format", "json"))["trace_quality"]["notes"]))
        damaged = next(file for file in pair.glob("*.ptr") if "-5-" in file.name)
        damaged.write_bytes(b"noise" * 1000)
        self.assertIn("2 trace files of processes that forked others are missing or cannot be read", json.dumps(json.loads(self.proftrace("report", pair, "--format", "json"))["trace_quality"]["notes"]))
        story.write_text("\n".join(["proftrace-text 1 start_realtime_ns=1705320000000000000", process.format(5, "parent_trace_id=0"), process.format(7, "parent_trace_id=5"), ""]))
        one = self.folder / "one"
        self.proftrace("assemble", story, "-o", one)
        next(file for file in one.glob("*.ptr") if "-5-" in file.name).write_bytes(b"noise" * 1000)
        self.assertNotIn("that forked others", json.dumps(json.loads(self.proftrace("report", one, "--format", "json"))["trace_quality"]["notes"]))
        for files in "*.ptr", "*.pts":
            less = self.folder / f"less{files[-1]}"
            shutil.copytree(made, less)
            gone = list(less.glob(files))
            self.assertTrue(gone)
            for file in gone:
                file.unlink()
            self.assertGreaterEqual(json.loads(self.proftrace("report", less, "--format", "json"))["trace_quality"]["missing_files"], 1)

    def test_trace_files_that_are_all_blank(self):
        """After a full disk or a power cut: no calls at all were as good as any."""
        self.with_baseline(*self.usual)
        run = self.broken(lambda _: None)
        for file in run.glob("*.pts"):
            file.unlink()
        for file in run.glob("*.ptr"):
            os.truncate(file, 0)
        before = self.file.read_bytes()
        self.check(run, status=4)
        self.proftrace("baseline", "add", self.file, run, status=4)
        self.assertEqual(self.file.read_bytes(), before)

    def test_a_process_of_which_the_beginning_alone_is_here(self):
        """It grew into a file of its own, which was not copied: it was "killed or crashed after 20 ms"."""
        subprocess.run([sys.executable, "-c", "for i in range(3000): open('/etc/hostname').close()"], check=True, timeout=100,
                       env={**environment(), "LD_PRELOAD": str(BUILD / "libproftrace.so"), "PROFTRACE_DIR": str(self.folder / "bare")})
        run = (self.folder / "bare/latest").resolve()
        own = list(run.glob("*.ptr"))
        self.assertTrue(own)
        for file in own:
            file.unlink()
        report = json.loads(self.proftrace("report", run, "--format", "json"))
        words = "not known: its trace went on in a file of its own, which is missing or cannot be read"
        self.assertIn(words, [process.get("exit_reason") for process in report["processes"]])
        self.assertEqual((report["stages"][0]["status"], report["stages"][0]["reason"]), ("ok", words))
        self.assertNotIn("killed", json.dumps(report["stages"][0]))
        compared = json.loads(self.proftrace("compare", run, self.usual[0], "--format", "json"))["stages"][0]["runs"]
        self.assertEqual([row["wall_s"] is None for row in compared], [True, False])

    def test_a_killed_run_of_which_the_beginning_alone_is_here(self):
        """Its launcher was killed with it, and noted no end: the run was "ok"."""
        program = "import sys\nfor i in range(3000): open('/etc/hostname').close()\nprint(flush=True); sys.stdin.read()"
        run = self.folder / "killed"
        with subprocess.Popen([PROFTRACE, "run", "--no-report", "-o", run, "--", sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, cwd=self.folder, env=environment(), start_new_session=True) as launcher:
            launcher.stdout.readline()
            os.killpg(launcher.pid, signal.SIGKILL)
            launcher.wait(60)
        for file in run.glob("*.ptr"):
            file.unlink()
        def status():
            return json.loads(self.proftrace("report", run, "--format", "json"))["stages"][0]["status"]
        until = time.monotonic() + 60
        while status() == "running" and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(status(), "failed")

    def test_a_run_that_goes_on(self):
        self.with_baseline(*self.usual)
        running = self.folder / "running"
        with subprocess.Popen([PROFTRACE, "run", "--no-report", "-o", running, "--", "sh", "-c", "touch begun; read line"], stdin=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, cwd=self.folder, env={**environment(), "PROFTRACE_STAGE": "train"}) as program:
            while not (self.folder / "begun").exists():
                time.sleep(0.01)
            said = self.check(running, status=4)
            refused = self.proftrace("baseline", "add", self.file, running, status=4)
            program.communicate(b"\n", timeout=60)
        self.assertRegex(said, "^undecided: train: stage train is running")
        self.assertIn("is running", refused)

    def test_untraced_processes(self):
        static = self.folder / "static"
        (self.folder / "static.c").write_text("int main(void) { return 0; }", encoding="utf-8")
        if subprocess.run(["gcc", "-static", "-o", static, self.folder / "static.c"], capture_output=True, check=False).returncode:
            self.skipTest("no static libc")
        def run(name, times):
            subprocess.run([PROFTRACE, "run", "--no-report", "-o", self.folder / name, "--", "sh", "-c", f"for i in $(seq {times}); do {static}; done; true"],
                           check=True, capture_output=True, timeout=100, env={**environment(), "PROFTRACE_STAGE": "shell"})
            return self.folder / name
        none, two = run("none", 0), run("two", 2)
        self.with_baseline(none)
        self.assertRegex(self.check(two, status=4), r"^undecided: shell: 2 processes were not traced, and 0 in the baseline")
        self.file.unlink()
        self.with_baseline(two)
        self.assertRegex(self.check(none, status=4), r"^undecided: shell: 0 processes were not traced, and 2 in the baseline")
        self.check(run("also two", 2))  # as many as ever

    def test_a_stage_that_the_baseline_has_not(self):
        self.with_baseline(*self.usual)
        self.assertIn("no run of this stage", self.check(self.record("other", 10, stage="other"), status=4))

    def test_what_is_not_known_is_not_zero(self):
        subprocess.run([PROFTRACE, "run", "--no-report", "--heap", "off", "-o", self.folder / "off", "--", sys.executable, "-c", PROGRAM, "1000", self.runs],
                       check=True, capture_output=True, timeout=100, env={**environment(), "PROFTRACE_STAGE": "train", "PYTHONHASHSEED": "0"})
        self.with_baseline(*self.usual)
        said = self.check(self.folder / "off", status=4)
        self.assertRegex(said, r"^undecided: train: heap\.allocations: not known in the run\n")
        self.assertRegex(said, r"not judged +heap\.bytes +[\d.]+ MiB +-")
        document = json.loads(self.proftrace("report", self.folder / "off", "--format", "json"))
        self.assertEqual((document["stages"][0]["heap"]["allocs"], document["stages"][0]["heap"]["allocs_reason"]), (None, "heap recording was off"))

    def test_calls_that_were_not_recorded_are_not_none(self):
        off = self.folder / "off"
        subprocess.run([PROFTRACE, "run", "--no-report", "-o", off, "--", sys.executable, "-c", PROGRAM, "1000", self.runs],
                       check=True, capture_output=True, timeout=100, env={**environment(), "PROFTRACE_STAGE": "train", "PYTHONHASHSEED": "0", "PROFTRACE_IO": "0"})
        self.with_baseline(*self.usual)
        said = self.check(off, status=4)
        for figure in r"open\.calls", r"read\.bytes", r"files\.opened", "requests":
            self.assertRegex(said, rf"not judged +{figure} .* not known in the run\n")
        self.assertRegex(said, r"same +heap\.allocations ")
        stage = json.loads(self.proftrace("report", off, "--format", "json"))["stages"][0]
        self.assertEqual(stage["not_recorded"], {"io": "not recorded: PROFTRACE_IO was off"})
        self.assertEqual((stage["files_opened"], stage["requests"], stage["requests_reason"]), (None, None, "not recorded: PROFTRACE_IO was off"))
        io = json.loads(self.proftrace("report", off, "--format", "json"))["processes"][0]["io"]
        self.assertEqual((io["read"]["calls"], io["read"]["calls_reason"], io["stat"]["seconds"]), (None, "not recorded: PROFTRACE_IO was off", None))
        self.assertIsNotNone(io["stdio_read"]["calls"])
        said = self.proftrace("diff", self.usual[0], off)
        self.assertRegex(said, r"note: train: not all calls of B are compared: not recorded:\s+PROFTRACE_IO was off")
        self.assertNotRegex(said.splitlines()[0], "read|open|files")
        # Nor are those of the usual runs more than none.
        self.file.unlink()
        self.with_baseline(off)
        self.assertRegex(self.check(self.usual[0]), r"^ok: none of the \d+ figures that could be judged is worse(.*\n)*not judged +open\.calls .* not known in the")

    def test_what_neither_run_records_hides_nothing_else(self):
        runs = [self.folder / "few", self.folder / "many"]
        for run, times in zip(runs, ("1000", "9000")):
            subprocess.run([PROFTRACE, "run", "--no-report", "-o", run, "--", sys.executable, "-c", PROGRAM, times, "1"],
                           check=True, capture_output=True, timeout=100, env={**environment(), "PROFTRACE_STAGE": "train", "PROFTRACE_LOCKS": "0"})
        document = json.loads(self.proftrace("diff", *runs, "--format", "json"))
        self.assertIn("places", document["stages"][0])
        self.assertNotIn("not all calls", str(document.get("notes")))

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
        for text, words in ((good[:200], "line"), ("[]", "is no baseline"), ("", "line"), ('{"schema_version": "1.0"}', "has no stages"), ('{"schema_version": "2.0"}', "has no runs"),
                            (good.replace('"2.0"', '"3.1"'), "is of format 3.1, and this proftrace reads 1 and 2: a newer one is needed"),
                            (good.replace('"2.0"', '"0.9"'), "is of format 0.9, which is too old"), (good.replace('"2.0"', '"x\\ny"'), "has no schema_version"),
                            (good.replace('"2.0"', "2"), "has no schema_version"), (good.replace('"wall_s":', '"wall_s":"much","x":'), "no figures that are numbers"),
                            (good.replace('"stage":', '"stage\\n":'), "run 1 has no name"), (good.replace('"train"', '"tr\\nain"').replace('"run":', '"ran":'), "has no name"),
                            (good.replace('"figures":', '"figure":'), "run 1 of stage train has no figures that are numbers"), (good.replace('"7f",', "<<<<<<< HEAD\n"), "is of a merge conflict")):
            with self.subTest(words):
                self.assertNotEqual(text, good)
                self.file.write_text(text, encoding="utf-8")
                for said in (self.check(self.usual[0], status=3), self.proftrace("baseline", "add", self.file, self.usual[0], status=3),
                             self.proftrace("baseline", "show", self.file, status=3), self.proftrace("trend", self.file, status=3)):
                    self.assertIn(words, said)
                    self.assertEqual(said.count("\n"), 1, said)
                self.assertEqual(self.file.read_text(encoding="utf-8"), text)
        self.file.unlink()
        self.assertRegex(self.check(self.usual[0], status=2), r"\A.*`proftrace baseline add.*\n\Z")
        self.assertIn("--baseline FILE is missing", self.proftrace("check", self.usual[0], status=2))
        self.assertIn("none of add, show and prune", self.proftrace("baseline", "ad", self.file, status=2))

    def test_members_of_another_type(self):
        self.with_baseline(self.usual[0])
        good = self.written()
        for change, words in (({"cpus": "2"}, "CPUs"), ({"untraced": "x"}, "untraced"), ({"at_utc": "yesterday"}, "time"), ({"host": 1}, "host"), ({"tool": []}, "tool"),
                              ({"dataset": {}}, "dataset"), ({"commit": 7}, "commit"), ({"unknown": {"heap.bytes": 1}}, "reasons"), ({"figures": {}}, "no figures"),
                              ({"figures": {"wall_s": 1, "read.calls": 1e308}}, "no figures"), ({"figures": {"wall_s": -1}}, "no figures")):
            with self.subTest(change):
                self.file.write_text(json.dumps({**good, "runs": [{**run, **change} if isinstance(run, dict) else run for run in good["runs"]]}), encoding="utf-8")
                self.assertRegex(self.check(self.usual[0], status=3), rf"run 1 of stage train has .*{words}")
        text = json.dumps(good)
        for change, words in ((('"cpus":', '"cpus": 4, "cpus":'), "has a member twice"), (('"wall_s":', '"wall_s": 4, "wall_s":'), "no figures"),
                              (('{"schema_version":', '{"runs": [], "schema_version":'), 'has "runs" twice')):
            self.file.write_text(text.replace(*change, 1), encoding="utf-8")
            self.assertIn(words, self.check(self.usual[0], status=3))

    def test_what_is_read_from_a_pipe(self):
        self.with_baseline(self.usual[0])
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.assertIn("a pipe that nobody writes into", self.proftrace("check", self.usual[0], "--baseline", pipe, status=3))
        done = subprocess.run(["bash", "-c", f"{PROFTRACE} check {self.usual[0]} --baseline <(sleep 0.2; cat {self.file})"], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual((done.returncode, done.stdout[:4]), (0, "ok: "), done.stderr)

    def test_a_byte_order_mark_is_none_of_our_business(self):
        self.with_baseline(self.usual[0])
        self.file.write_bytes(b"\xef\xbb\xbf" + self.file.read_bytes())
        self.check(self.usual[0])

    def test_runs_that_are_added_at_once_all_stay(self):
        adding = [subprocess.Popen([PROFTRACE, "baseline", "add", self.file, run], env=environment(), cwd=self.folder) for run in self.usual]
        self.assertEqual([one.wait(timeout=100) for one in adding], [0] * len(adding))
        self.assertEqual(len(runs_of(self.written())), len(self.usual))
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["baseline.json"])

    def test_a_link_and_the_rights_stay(self):
        shared = self.folder / "shared"
        shared.mkdir()
        self.with_baseline(self.usual[0])
        self.file.rename(shared / "kept.json")
        (shared / "kept.json").chmod(0o600)
        self.file.symlink_to("shared/kept.json")
        self.assertEqual(len(runs_of(self.with_baseline(self.usual[1]))), 2)
        self.assertTrue(self.file.is_symlink())
        self.assertEqual((shared / "kept.json").stat().st_mode & 0o777, 0o600)
        self.assertEqual(len(runs_of(json.loads((shared / "kept.json").read_text(encoding="utf-8")))), 2)

    def test_unknown_members_stay(self):
        baseline = self.with_baseline(self.usual[0])
        baseline["policy"] = {"mine": 1}
        runs_of(baseline)[0]["note"] = "x"
        self.file.write_text(json.dumps(baseline), encoding="utf-8")
        after = self.with_baseline(self.usual[1])
        self.assertEqual((after["policy"], sorted(str(run.get("note")) for run in runs_of(after))), ({"mine": 1}, ["None", "x"]))

    def test_a_file_of_format_1_is_read_and_becomes_one_of_2(self):
        entries = runs_of(self.with_baseline(*self.usual))
        for entry in entries:
            del entry["unknown"], entry["untraced"], entry["stage"]
        self.file.write_text(json.dumps({"schema_version": "1.0", "stages": {"train": entries}, "mine": 1}), encoding="utf-8")
        self.assertTrue(self.check(self.usual[0]).startswith("ok: "))
        self.assertRegex(self.check(self.more, status=1), r"WORSE +open\.calls .*stable in 5 of 5")
        after = self.with_baseline(self.more)
        self.assertEqual((after["schema_version"], after["mine"], len(runs_of(after, "train"))), ("2.0", 1, 6))
        self.assertNotIn("stages", after)

    def test_adding_twice_is_adding_once_and_old_runs_go(self):
        self.with_baseline(*self.usual)
        self.rewrite(lambda number, run: run.update(at_utc=f"2026-01-0{number + 1}T00:00:00Z"))
        self.with_baseline(self.usual[0], self.usual[0])
        names = [run["run"] for run in runs_of(self.written())]
        self.assertEqual(len(names), 6)  # those that were given another time are others
        self.proftrace("baseline", "prune", self.file, "--keep", "2")
        kept = runs_of(self.written())
        self.assertEqual(sorted(run["at_utc"] for run in kept)[0], "2026-01-05T00:00:00Z")
        self.assertEqual(len(kept), 2)
        self.assertEqual(self.proftrace("baseline", "show", self.file).count("usual"), 2)

    def test_the_order_of_adding_leaves_no_trace(self):
        self.with_baseline(*self.usual)
        one = self.file.read_bytes()
        self.file.unlink()
        for run in reversed(self.usual):
            self.with_baseline(run)
        self.assertEqual(self.file.read_bytes(), one)


class Merge(Case):
    """Two branches that add runs, with git as it is. A run's place follows from its name and time: these are always the same."""
    @classmethod
    def record(cls, name, times, stage="train", **more):
        run = super().record(name, times, stage, **more)
        report = json.loads(subprocess.run([PROFTRACE, "report", run, "--format", "json"], check=True, capture_output=True, timeout=100, env=environment()).stdout)
        report["timestamp_utc"] = f"2026-01-0{1 + sum(map(ord, name)) % 9}T00:00:00Z"
        (run / "report.json").write_text(json.dumps(report), encoding="utf-8")
        return run

    def git(self, *arguments, status=0):
        done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=self.folder, check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)

    def merged(self, first, ours, theirs):
        """What is in the file after runs of `ours` and `theirs` were added on two branches, and the second merged into the first."""
        self.git("init", "-q", "-b", "main")
        (self.folder / "README").write_text("x", encoding="utf-8")
        if first:
            self.with_baseline(*first)
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        self.git("checkout", "-qb", "other")
        self.with_baseline(*theirs)
        self.git("add", ".")
        self.git("commit", "-qam", "theirs")
        self.git("checkout", "-q", "main")
        self.with_baseline(*ours)
        self.git("add", ".")
        self.git("commit", "-qam", "ours")
        self.git("merge", "-q", "other", "-m", "both")
        merged = self.file.read_bytes()
        self.proftrace("baseline", "show", self.file)
        json.loads(merged)
        # It is the file that adding one after the other makes.
        self.file.unlink()
        self.with_baseline(*first, *theirs, *ours)
        self.assertEqual(merged, self.file.read_bytes())
        return runs_of(json.loads(merged))

    def test_runs_of_the_same_stage(self):
        self.assertEqual(len(self.merged(self.usual[:1], [self.usual[1]], [self.usual[2]])), 3)

    def test_several_runs_on_each_side(self):
        self.assertEqual(len(self.merged(self.usual[:1], self.usual[1:3], self.usual[3:])), 5)

    def test_a_stage_that_is_new_to_both(self):
        evaluate = [self.record(f"evaluate{i}", 10, stage="evaluate") for i in range(2)]
        stages = [run["stage"] for run in self.merged(self.usual[:1], evaluate[:1], evaluate[1:])]
        self.assertEqual(sorted(stages), ["evaluate", "evaluate", "train"])

    def test_different_stages(self):
        self.assertEqual(len(self.merged(self.usual[:1], [self.usual[1]], [self.record("evaluated", 10, stage="evaluate")])), 3)

    def test_old_runs_go_on_both_sides(self):
        self.git("init", "-q", "-b", "main")
        self.with_baseline(*self.usual[:3])
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        self.git("checkout", "-qb", "other")
        self.proftrace("baseline", "add", self.file, self.usual[3], "--keep", "3")
        self.git("commit", "-qam", "theirs")
        self.git("checkout", "-q", "main")
        self.proftrace("baseline", "add", self.file, self.usual[4], "--keep", "3")
        self.git("commit", "-qam", "ours")
        self.git("merge", "-q", "other", "-m", "both")
        self.assertEqual(len(runs_of(self.written())), 4)
        self.check(self.usual[0])

    def test_runs_that_share_a_place(self):
        """The same line of the file: a conflict, unless .gitattributes has the line that the documentation names; then JSON all the same."""
        self.with_baseline(self.usual[0])
        (self.folder / ".gitattributes").write_text("baseline.json merge=union\n", encoding="utf-8")
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        text = self.file.read_text(encoding="utf-8")
        line = next(line for line in text.splitlines() if line.startswith('{"stage"'))
        for branch, time_of in ("other", "2001"), ("main", "2002"):
            self.git("checkout", "-q", *(["-b"] if branch == "other" else []), branch)
            added = re.sub('"at_utc": "....', f'"at_utc": "{time_of}', line)
            self.assertNotEqual(added, line)
            self.file.write_text(text.replace('"7f",\n', f'"7f",\n{added}\n'), encoding="utf-8")
            self.git("commit", "-qam", branch)
        self.git("merge", "-q", "other", "-m", "both")
        self.assertEqual(len(runs_of(self.written())), 3)
        self.proftrace("baseline", "prune", self.file)
        self.assertEqual(len(runs_of(self.written())), 3)


if __name__ == "__main__":
    unittest.main()
