# SPDX-License-Identifier: MIT
"""Quality with the document's own configuration, which names no grade report: it is found by what the stages wrote."""
import json
import os
import subprocess
import unittest

from pipeline_case import LATEST, PROFTRACE, PipelineCase

# As the document has it.
DOCUMENT = {"profile": {"dataset": "coco128", "train_epochs": 50, "enable_gpu_sampling": True}}
PROGRAMS = ("dataset-fetcher", "dinov3-fetcher", "dataset-generator", "augment-checker", "detector-train", "detector-infer",
            "detector-grader")
GRADE = {"run_grade_0_100": 72.5, "precision_proxy": 0.85, "recall_proxy": 0.78, "miss_rate_proxy": 0.22}
STALE = {"run_grade_0_100": 1, "precision_proxy": 1, "recall_proxy": 1, "miss_rate_proxy": 1}
TEXT = json.dumps(GRADE)
NOTHING = "#!/bin/sh\n:\n"


def sh(script):
    return "#!/bin/sh\nset -e\n" + script + "\n"


def python(script):
    return "#!/usr/bin/python3\nimport json, os, subprocess, sys\ngrade = " + repr(GRADE) + "\n" + script + "\n"


class GradeReportCase(PipelineCase):
    def run_stages(self, grader, *arguments, config=None, environment=None, **others):
        """The document's stages, where most do nothing: `grader` and detector_train=... are their programs."""
        for program in PROGRAMS:
            script = grader if program == "detector-grader" else others.get(program.replace("-", "_"), NOTHING)
            if script:
                self.write("bin/" + program, script, 0o755)
        self.write("config.json", json.dumps(config or DOCUMENT))
        path = f"{self.work}/bin:{os.environ['PATH']}"
        return self.proftrace("pipeline", "--config", "config.json", *arguments, environment={"PATH": path, **(environment or {})})

    def quality_lines(self):
        """The section of report.md."""
        return self.assert_markdown().split("\n## Quality\n")[1].split("\n\n")[0].splitlines()

    def assert_grade(self, outcome, name, expected=None):
        """All values are of this file, and every report names it."""
        self.assertEqual(outcome.code, 0, outcome)
        report = self.report()
        self.assertEqual(report["quality_metrics"], {**GRADE, **(expected or {})}, report.get("quality_file"))
        self.assertEqual(report["quality_file"], os.path.join(self.work, name))
        self.assertEqual(self.record()["pipeline"]["quality_read_from"], os.path.join(self.work, name))
        self.assertEqual(self.quality_lines()[-1].replace("`", ""), f"- Read from: {name}")
        self.assertIn(f"Read from     {name}\n", outcome.stderr.decode())

    def assert_none(self, outcome, *reasons, code=0):
        self.assertEqual(outcome.code, code, outcome)
        report = self.report()
        self.assertNotIn("quality_file", report)
        for key in GRADE:
            self.assertIsNone(report["quality_metrics"][key])
            for reason in reasons:
                self.assertIn(reason, report["quality_metrics"][key + "_reason"])
        self.assertNotIn("Read from", "".join(self.quality_lines()))

    def old(self, name, content=None):
        """A file of an earlier run."""
        path = self.write(name, json.dumps(STALE if content is None else content))
        os.utime(path, (1, 1))
        return path


class Found(GradeReportCase):
    def test_as_the_document_has_it(self):
        outcome = self.run_stages(python("os.makedirs('runs/eval')\njson.dump(grade, open('runs/eval/report.json', 'w'))"))
        self.assert_grade(outcome, "runs/eval/report.json")
        self.assertEqual(self.record()["pipeline"]["quality_file"], None)
        # Whoever renders it later reads the same, and nothing is looked for again.
        os.remove(self.work + "/runs/eval/report.json")
        again = self.proftrace("report", "--format", "json")
        self.assertEqual(again.stdout, self.read(LATEST + "/report.json"))
        for arguments in ([], ["--full"]):
            self.assertIn(b"runs/eval/report.json", self.proftrace("report", *arguments).stdout)
        self.assertIn(b"runs/eval/report.json", self.read(LATEST + "/report.html"))

    def test_however_it_is_written(self):
        os.mkdir(self.work + "/out")
        for name, grader in (
                ("a.json", sh(f"echo '{TEXT}' > a.json")),
                ("b.json", sh(f"echo '{TEXT}' | cat > b.json")),
                ("c.json", sh(f"echo '{TEXT}' | tee c.json")),
                ("d.json", sh(f"printf '' > d.json; echo '{TEXT}' >> d.json")),
                ("e.JSON", sh(f"echo '{TEXT}' > e.tmp; mv e.tmp e.JSON")),
                ("out/f.json", sh(f"echo '{TEXT}' > f.json; mv f.json out/")),
                ("out/g.json", sh(f"echo '{TEXT}' > g.txt; cp g.txt out/g.json; rm g.txt")),
                ("out/h.json", sh(f"echo '{TEXT}' > h.json; cp h.json out; rm h.json")),
                ("i.json", sh(f"echo '{TEXT}' > i.txt; ln i.txt i.json")),
                ("j/j.json", sh(f"mkdir j.partial; echo '{TEXT}' > j.partial/j.json; mv j.partial j")),
                ("k.json", python("json.dump(grade, open('k.tmp', 'w'))\nos.replace('k.tmp', 'k.json')")),
                ("l.json", python("fd = os.open('out', os.O_RDONLY | os.O_DIRECTORY)\n"
                                  "with open(os.open('l.tmp', os.O_WRONLY | os.O_CREAT, dir_fd=fd), 'w') as file:\n"
                                  "    json.dump(grade, file)\n"
                                  "os.rename('l.tmp', '../l.json', src_dir_fd=fd, dst_dir_fd=fd)"))):
            with self.subTest(name):
                self.assert_grade(self.run_stages(grader), name)

    def test_whoever_writes_it(self):
        os.mkdir(self.work + "/out")
        for name, grader in (
                ("a.json", python("subprocess.run([sys.executable, '-c', 'import json, sys; json.dump(eval(sys.argv[1]), "
                                  "open(\"a.json\", \"w\"))', repr(grade)], check=True)")),
                ("out/b.json", python("subprocess.run(['tee', 'b.json'], cwd='out', input=json.dumps(grade).encode(), check=True)")),
                ("c.json", python("subprocess.run(['true'], cwd='out', check=True)\njson.dump(grade, open('c.json', 'w'))")),
                ("out/d.json", sh(f"(cd out; echo '{TEXT}' > d.json)")),
                ("out/e.json", python("if not os.fork():\n    os.chdir('out')\n    json.dump(grade, open('e.json', 'w'))\nelse:\n"
                                      "    os.wait()")),
                ("out/f.json", python("os.chdir('out')\njson.dump(grade, open('f.json', 'w'))")),
                ("out/x/g.json", python("os.chdir('out')\nos.mkdir('x')\nos.chdir('x')\njson.dump(grade, open('g.json', 'w'))")),
                ("h.json", python("os.chdir('out')\nos.chdir('..')\njson.dump(grade, open('h.json', 'w'))")),
                ("i.json", python("os.chdir('out')\njson.dump(grade, open('../i.json', 'w'))"))):
            with self.subTest(name):
                self.assert_grade(self.run_stages(grader), name)

    def test_any_stage_and_any_directory(self):
        os.mkdir(self.work + "/elsewhere")
        stages = [{"stage": "all", "cmd": ["sh", "-c", f"echo '{TEXT}' > r.json"], "cwd": "elsewhere"},
                  {"stage": "last", "cmd": ["true"]}]
        outcome = self.pipeline(stages)
        self.assert_grade(outcome, "elsewhere/r.json")
        with open(self.folder + "/outside.json", "w", encoding="utf-8") as file:
            file.write("{}")
        outcome = self.run_stages(sh(f"echo '{TEXT}' > ../outside.json"))
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(self.report()["quality_file"], self.folder + "/outside.json")
        self.assertEqual(self.quality_lines()[-1], f"- Read from: `{self.folder}/outside.json`")

    def test_keys_lie_deeper_and_others_are_named(self):
        nested = {"summary": {"all": GRADE}, "runs": [{"f1": 0.5}]}
        config = {"profile": {**DOCUMENT["profile"], "quality": {"keys": ["runs.0.f1", "absent"]}}}
        outcome = self.run_stages(sh(f"echo '{json.dumps(nested)}' > r.json"), config=config)
        self.assertEqual(outcome.code, 0, outcome)
        metrics = self.report()["quality_metrics"]
        self.assertEqual({key: metrics[key] for key in GRADE}, GRADE)
        self.assertEqual(metrics["runs.0.f1"], 0.5)
        self.assertEqual(metrics["absent_reason"], f"{self.work}/r.json: has no key absent")

    def test_floors(self):
        for floor, code in ((72.5, 0), (80, 5)):
            config = {"profile": {**DOCUMENT["profile"], "quality": {"min": {"run_grade_0_100": floor}}}}
            outcome = self.run_stages(sh(f"echo '{TEXT}' > r.json"), "--ci", "github", config=config)
            self.assertEqual(outcome.code, code, outcome)
            self.assertEqual(len(self.report()["quality_floors_broken"]), int(code == 5))
        self.assertEqual(outcome.stderr.decode().splitlines()[-1], "proftrace: run_grade_0_100 is 72.5, below its floor of 80")
        self.assertIn(b"::error title=run_grade_0_100::72.5 is below its floor of 80\n", outcome.stdout)

    def test_a_failed_stage_leaves_its_report(self):
        outcome = self.run_stages(sh(f"echo '{TEXT}' > r.json; exit 3"))
        self.assertEqual(outcome.code, 1, outcome)
        self.assertEqual(self.report()["quality_metrics"], GRADE)


class Chosen(GradeReportCase):
    def test_the_newest_that_has_the_keys(self):
        other = json.dumps({**GRADE, "run_grade_0_100": 10})
        outcome = self.run_stages(sh(f"echo '{TEXT}' > eval.json; echo '{{\"loss\": 1}}' > after.json"),
                                  detector_train=sh(f"echo '{other}' > validation.json"))
        self.assert_grade(outcome, "eval.json")
        outcome = self.run_stages(sh(f"echo '{TEXT}' > eval.json; sleep 0.02; echo '{other}' > eval2.json"))
        self.assert_grade(outcome, "eval2.json", {"run_grade_0_100": 10})

    def test_a_part_that_is_written_later(self):
        outcome = self.run_stages(sh(f"echo '{TEXT}' > report.json; sleep 0.02; echo '{{\"precision_proxy\": 0.1}}' > class.json"))
        self.assert_grade(outcome, "report.json")

    def test_only_a_part_is_there(self):
        outcome = self.run_stages(sh("echo '{\"precision_proxy\": 0.1, \"recall_proxy\": NaN}' > part.json"))
        self.assertEqual(outcome.code, 0, outcome)
        metrics = self.report()["quality_metrics"]
        self.assertEqual(metrics["precision_proxy"], 0.1)
        self.assertIn("part.json: recall_proxy is null or NaN", metrics["recall_proxy_reason"])
        self.assertIn("part.json: has no key run_grade_0_100", metrics["run_grade_0_100_reason"])

    def test_among_thousands(self):
        many = "for i in range(6000):\n    with open(f'many/{i}.json', 'w') as file:\n        file.write('{\"label\": %d}' % i)\n"
        os.mkdir(self.work + "/many")
        outcome = self.run_stages(python("json.dump(grade, open('r.json', 'w'))"), detector_infer=python(many))
        self.assert_grade(outcome, "r.json")
        outcome = self.run_stages(python("json.dump(grade, open('r.json', 'w'))\n" + many.replace("6000", "2000")))
        self.assert_grade(outcome, "r.json")

    def test_what_is_no_report(self):
        outcome = self.run_stages(sh(f"echo '{TEXT}' > r.json; mkfifo pipe.json; : <> pipe.json; mkdir dir.json; ln -s r.json latest.json;"
                                     "echo '[' > broken.json; echo '{\"recall_proxy\"' >> broken.json; ln -s nowhere dangling.json"))
        self.assertEqual(outcome.code, 0, outcome)
        report = self.report()
        self.assertEqual(report["quality_metrics"], GRADE)
        self.assertIn(report["quality_file"], (self.work + "/r.json", self.work + "/latest.json"))


class NotFound(GradeReportCase):
    def test_a_stale_file(self):
        for name, script in (
                ("nobody", "pass"),
                ("read", "json.load(open('old.json'))"),
                ("stdio", "subprocess.run(['grep', 'recall', 'old.json'], check=True)"),
                ("redirected", "subprocess.run('cat < old.json', shell=True, check=True)"),
                ("updated", "open('old.json', 'r+').read()"),
                ("appended", "open('old.json', 'a').close()"),
                ("touched", "os.utime('old.json')"),
                ("touch", "subprocess.run(['touch', 'old.json'], check=True)"),
                ("mode", "os.chmod('old.json', 0o600)"),
                ("renamed", "os.rename('old.json', 'new.json')"),
                ("linked", "os.link('old.json', 'new.json')"),
                ("symlinked", "os.symlink('old.json', 'new.json')"),
                ("kept", "subprocess.run(['cp', '-p', 'old.json', 'new.json'], check=True)")):
            with self.subTest(name):
                self.old("old.json")
                self.assert_none(self.run_stages(python(script)), "no grade report was found: ", "; name it in profile.quality.file")
                for left in ("old.json", "new.json"):
                    if os.path.lexists(f"{self.work}/{left}"):
                        os.remove(f"{self.work}/{left}")

    def test_values_of_an_earlier_run(self):
        self.assert_grade(self.run_stages(sh(f"echo '{TEXT}' > r.json")), "r.json")
        earlier = os.path.realpath(f"{self.work}/{LATEST}")
        outcome = self.run_stages(sh(f"{PROFTRACE} report {earlier} --format json > base.json"))
        self.assert_none(outcome, "none of the JSON files that the stages wrote has one of the keys", "base.json")

    def test_floors_are_no_values(self):
        config = {"profile": {**DOCUMENT["profile"], "quality": {"min": {"run_grade_0_100": 50}}}}
        outcome = self.run_stages(sh("cp \"$PIPELINE_CONFIG\" args.json"), config=config)
        self.assert_none(outcome, "args.json", code=5)

    def test_no_file(self):
        self.assert_none(self.run_stages(NOTHING), "no grade report was found: no stage wrote a JSON file; name it in")

    def test_files_without_the_keys(self):
        outcome = self.run_stages(sh("for i in 1 2 3 4; do echo '{}' > $i.json; sleep 0.02; done"))
        self.assert_none(outcome, f"{self.work}/4.json, {self.work}/3.json, {self.work}/2.json and 1 older ones")

    def test_it_is_gone(self):
        self.assert_none(self.run_stages(sh(f"echo '{TEXT}' > r.json; rm r.json")), "the JSON files that the stages wrote are gone")

    def test_it_is_broken(self):
        self.assert_none(self.run_stages(sh("echo '{\"recall_proxy\": ' > r.json")), f"{self.work}/r.json: line 2, column 1: ")

    def test_the_stage_is_not_traced(self):
        self.write("grader.c", "#include <stdio.h>\nint main(void) { FILE *f = fopen(\"r.json\", \"w\"); fputs(\"{}\", f); return 0; }\n")
        os.mkdir(self.work + "/bin")
        subprocess.run(["cc", "-static", "-o", "bin/detector-grader", "grader.c"], cwd=self.work, check=True)
        self.assert_none(self.run_stages(None), "no stage wrote a JSON file", "detector-grader of stage 'eval' is not traced", "static")

    def test_nothing_is_traced(self):
        outcome = self.run_stages(sh(f"echo '{TEXT}' > r.json"), environment={"PROFTRACE_DISABLE": "1"})
        self.assert_none(outcome, "no stage wrote a JSON file; nothing was traced")

    def test_files_are_not_recorded(self):
        outcome = self.run_stages(sh(f"echo '{TEXT}' > r.json"), environment={"PROFTRACE_IO": "off"})
        self.assert_none(outcome, "did not record their file calls")

    def test_its_events_were_lost(self):
        seek = "for _ in range(500000):\n    os.lseek(fd, random.getrandbits(40), 0)\n"
        busy = f"import random\nfd = os.open('/bin/sh', os.O_RDONLY)\n{seek}json.dump(grade, open('r.json', 'w'))\n{seek}"
        outcome = self.run_stages(python(busy), environment={"PROFTRACE_RING_MIB": "1"})
        self.assertGreater(self.report()["trace_quality"]["overwritten"], 0)
        self.assert_none(outcome, "no stage wrote a JSON file", "events were lost")


if __name__ == "__main__":
    unittest.main()
