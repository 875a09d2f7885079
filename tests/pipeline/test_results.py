# SPDX-License-Identifier: MIT
"""What a run leaves for people and machines: quality and its floors, copies of reports, what GitHub Actions shows."""
import json
import os
import shlex
import subprocess
import unittest

from pipeline_case import LATEST, NAMES, PROFTRACE, PipelineCase, plain, python, seven, sh

GRADE = {"run_grade_0_100": 72.5, "precision_proxy": 0.85, "recall_proxy": 0.78, "miss_rate_proxy": 0.22}


def grading(report=None):
    return sh(f"cat > grade.json <<'E'\n{json.dumps(GRADE if report is None else report)}\nE")


class Quality(PipelineCase):
    def grade(self, stages, quality, *arguments):
        return self.pipeline(stages, *arguments, config={"profile": {"quality": {"file": "grade.json", **quality}}})

    def test_the_four(self):
        outcome = self.grade(seven(grade=grading()), {"min": {"run_grade_0_100": 72.5, "precision_proxy": 0.8}})
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("\n- Precision (at least 0.8): 0.85\n", self.assert_markdown())
        outcome = self.grade(seven(grade=grading()), {})
        self.assertEqual(outcome.code, 0, outcome)
        report = self.report()
        self.assertEqual({key: report["quality_metrics"][key] for key in GRADE}, GRADE)
        self.assertEqual(report["quality_floors_broken"], [])
        self.assertEqual(report["quality_file"], self.work + "/grade.json")
        self.assertIn("## Quality\n- Grade: 72.5/100\n- Precision: 0.85\n- Recall: 0.78\n", self.assert_markdown())

    def test_others_are_named(self):
        outcome = self.grade(seven(grade=grading({**GRADE, "runs": [{"f1": 0.5}]})), {"keys": ["runs.0.f1", "missing"]})
        self.assertEqual(outcome.code, 0, outcome)
        metrics = self.report()["quality_metrics"]
        self.assertEqual(metrics["runs.0.f1"], 0.5)
        self.assertIsNone(metrics["missing"])
        self.assertTrue(metrics["missing_reason"])

    def test_a_floor_is_broken(self):
        outcome = self.grade(seven(grade=grading()), {"min": {"run_grade_0_100": 80, "recall_proxy": 0.9, "precision_proxy": 0}})
        self.assertEqual(outcome.code, 5, outcome)
        self.assertEqual(outcome.stderr.decode().splitlines()[-2:],
                         ["proftrace: run_grade_0_100 is 72.5, below its floor of 80",
                          "proftrace: recall_proxy is 0.78, below its floor of 0.9"])
        self.assertEqual(self.report()["quality_floors_broken"],
                         [{"key": "run_grade_0_100", "value": 72.5, "min": 80}, {"key": "recall_proxy", "value": 0.78, "min": 0.9}])
        self.assert_stages({name: "ok" for name in NAMES})

    def assert_unknown(self, outcome, reason):
        self.assertEqual(outcome.code, 5, outcome)
        self.assertIn("recall_proxy is not known, so its floor of 0.5 cannot be checked", outcome.stderr.decode())
        self.assertIn(reason, outcome.stderr.decode())
        metrics = self.report()["quality_metrics"]
        self.assertIsNone(metrics["recall_proxy"])
        self.assertIn(reason, metrics["recall_proxy_reason"])

    def test_no_grade_file(self):
        self.assert_unknown(self.grade(seven(), {"min": {"recall_proxy": 0.5}}), "grade.json")

    def test_no_such_key(self):
        self.assert_unknown(self.grade(seven(grade=grading({"precision_proxy": 1})), {"min": {"recall_proxy": 0.5}}),
                            "recall_proxy")

    def test_a_file_of_an_earlier_run(self):
        os.utime(self.write("grade.json", json.dumps(GRADE)), (1, 1))
        self.assert_unknown(self.grade(seven(), {"min": {"recall_proxy": 0.5}}), "grade.json")

    def test_no_number(self):
        self.write("nan.sh", "echo '{\"recall_proxy\": NaN}' > grade.json")
        self.assert_unknown(self.grade(seven(grade=sh("sh nan.sh")), {"min": {"recall_proxy": 0.5}}), "recall_proxy")

    def test_a_broken_file(self):
        self.assert_unknown(self.grade(seven(grade=sh("echo '{\"recall_proxy\": ' > grade.json")), {"min": {"recall_proxy": 0.5}}),
                            "grade.json")

    def test_a_failed_stage_counts_more(self):
        outcome = self.grade(seven(grade=sh("exit 4")), {"min": {"recall_proxy": 0.5}})
        self.assertEqual(outcome.code, 1, outcome)
        self.assertEqual(len(self.report()["quality_floors_broken"]), 1)


class Copies(PipelineCase):
    FILES = ("report.json", "report.md", "report.html")

    def test_an_option_and_a_key(self):
        for arguments, config in ((["--report-dir", "a/b/profiles"], {}), ([], {"profile": {"report_dir": "a/b/profiles"}}),
                                  (["--report-dir", "a/b/profiles"], {"profile": {"report_dir": "c"}})):
            with self.subTest(arguments=arguments, config=config):
                outcome = self.pipeline(seven(), *arguments, config=config)
                self.assertEqual(outcome.code, 0, outcome)
                self.assertIn(f"{self.work}/a/b/profiles/report.html".encode(), outcome.stderr)
                for name in self.FILES:
                    self.assertEqual(self.read("a/b/profiles/" + name), self.read(f"{LATEST}/{name}"))
                self.assertFalse(os.path.exists(self.work + "/c"))

    def test_where_nobody_names_a_directory(self):
        """profile-pipeline puts reports into profiles/, but for a configuration that names another directory; not for a stage's own key."""
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "profile-pipeline")
        for profile, directory in (({}, "profiles"), ({"report_dir": None}, "profiles"), ({"report_dir": "elsewhere"}, "elsewhere")):
            with self.subTest(profile=profile):
                self.configure(seven(grade={**plain("grade"), "env": {"report_dir": "runs"}}), profile=profile)
                path = os.path.dirname(PROFTRACE) + ":" + os.environ["PATH"]
                subprocess.run(["sh", "-c", f"cp {script} {os.path.dirname(script)}/pipeline-profile . && ./profile-pipeline"], cwd=self.work,
                               env=self.environment(PATH=path), capture_output=True, check=True, timeout=60)
                for name in self.FILES:
                    self.assertEqual(self.read(f"{directory}/{name}"), self.read(f"{LATEST}/{name}"))

    def test_only_ours_are_replaced(self):
        self.write("profiles/report.json", "old")
        self.write("profiles/mine.txt", "mine")
        os.symlink("/nowhere/x", self.work + "/profiles/report.md")
        self.pipeline(seven(), "--report-dir", "profiles")
        self.assertEqual(sorted(os.listdir(self.work + "/profiles")), sorted([*self.FILES, "mine.txt"]))
        self.assertEqual(self.read("profiles/mine.txt"), b"mine")
        self.report("profiles")

    def test_their_rights(self):
        """By the umask, as of `report -o`: a web server's user could not read them. What is replaced keeps its own."""
        os.chmod(self.write("profiles/report.md", "old"), 0o604)
        old = os.umask(0o027)
        self.addCleanup(os.umask, old)
        self.pipeline(seven(), "--report-dir", "profiles")
        modes = {name: os.stat(f"{self.work}/profiles/{name}").st_mode & 0o777 for name in self.FILES}
        self.assertEqual(modes, {"report.json": 0o640, "report.md": 0o604, "report.html": 0o640})

    def test_the_rights_of_a_file_that_was_linked_there(self):
        """Another user can give a report the rights of any file of ours, but not more than the umask does."""
        os.link(self.write("elsewhere", "", mode=0o666), os.path.join(os.path.dirname(self.write("profiles/x", "")), "report.json"))
        os.link(self.write("private", "", mode=0o600), f"{self.work}/profiles/report.md")
        old = os.umask(0o027)
        self.addCleanup(os.umask, old)
        self.pipeline(seven(), "--report-dir", "profiles")
        self.assertEqual([os.stat(f"{self.work}/profiles/{name}").st_mode & 0o777 for name in ("report.json", "report.md")], [0o640, 0o600])

    def test_the_group_of_a_file_that_is_replaced(self):
        if os.geteuid():
            self.skipTest("needs root")
        os.chown(self.write("profiles/report.json", "old", mode=0o640), -1, 65534)
        self.pipeline(seven(), "--report-dir", "profiles")
        status = os.stat(f"{self.work}/profiles/report.json")
        self.assertEqual((status.st_gid, status.st_mode & 0o777), (65534, 0o640))

    def test_it_is_made_impossible_meanwhile(self):
        summary = self.write("summary.md", "")
        outcome = self.pipeline(seven(build=sh("rm -r profiles; echo > profiles")), "--report-dir", "profiles", "--ci", "github",
                                environment={"GITHUB_STEP_SUMMARY": summary})
        self.assertEqual(outcome.code, 125, outcome)
        run = os.path.realpath(os.path.join(self.work, LATEST))
        said = outcome.stderr.decode()
        self.assertRegex(said, f"\nproftrace: the reports are in {run}, but were not copied: .*Not a directory\n")
        self.assertIn(f"\nproftrace: {run}/report.html  (next: ", said)
        self.assertEqual(self.read("summary.md").decode(), self.markdown())
        self.assert_stages({name: "ok" for name in NAMES})


class Next(PipelineCase):
    def test_a_command_shows_the_same_view(self):
        """Findings are numbered by stage and window: without them another one would open."""
        polls = python("import time\nfor _ in range(60): time.sleep(0.01)")
        self.assertEqual(self.pipeline([{"stage": "a", **polls}, {"stage": "it's b", **polls}]).code, 0)
        command = [PROFTRACE, "report", os.path.join(self.work, LATEST), "--stage", "it's b", "--since", "2s"]
        shown = subprocess.run(command, cwd=self.work, env=self.environment(COLUMNS="300"), stdout=subprocess.PIPE, timeout=60, check=True).stdout.decode()
        self.assertRegex(shown, r"\n  1  up to \S+ m?s \(\d+ % of the run\)  ")
        after = shlex.split(next(line for line in shown.splitlines() if line.startswith("Next ")).partition("--stage")[2])
        self.assertEqual(after[:5], ["it's b", "--since", "2s", "--finding", "1"])


class Github(PipelineCase):
    STAGES = seven(build=sh("echo '::error::injected by a log'; exit 3"))

    def run_it(self, *arguments, stages=None, **environment):
        return self.pipeline(stages or self.STAGES, *arguments, environment=environment)

    def test_annotations(self):
        for arguments, environment in ((["--ci", "github"], {}), ([], {"GITHUB_ACTIONS": "true"})):
            outcome = self.run_it(*arguments, **environment)
            self.assertEqual(outcome.code, 1)
            self.assertIn(b"\n::error title=stage build::exit 3\n", outcome.stdout)

    def test_none(self):
        for arguments, environment in ((["--ci", "none"], {"GITHUB_ACTIONS": "true"}), ([], {"GITHUB_ACTIONS": "false"}),
                                       ([], {})):
            outcome = self.run_it(*arguments, **environment)
            self.assertNotIn(b"::error title", outcome.stdout)

    def test_summary(self):
        path = self.write("summary.md", "before\n")
        self.run_it("--ci", "github", GITHUB_STEP_SUMMARY=path)
        self.assertEqual(self.read("summary.md").decode(), "before\n" + self.markdown())

    def test_a_summary_that_cannot_be_written(self):
        outcome = self.run_it("--ci", "github", GITHUB_STEP_SUMMARY="/nowhere/summary.md", stages=seven())
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn(b"cannot write the step's summary /nowhere/summary.md: No such file or directory", outcome.stderr)

    def test_broken_floors(self):
        outcome = self.pipeline(seven(grade=grading()), "--ci", "github",
                                config={"profile": {"quality": {"file": "grade.json", "min": {"recall_proxy": 0.9}}}})
        self.assertEqual(outcome.code, 5)
        self.assertIn(b"\n::error title=recall_proxy::0.78 is below its floor of 0.9\n", outcome.stdout)

    def test_nothing_escapes(self):
        hostile = "a::b;%0A::error::x"
        outcome = self.run_it("--ci", "github", stages=[{"stage": hostile, **sh("exit 1")}])
        line = b"::error title=stage a%3A%3Ab;%250A%3A%3Aerror%3A%3Ax::exit 1"
        self.assertIn(line, outcome.stdout.splitlines())
        self.assertEqual(sum(text.startswith(b"::error") for text in outcome.stdout.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
