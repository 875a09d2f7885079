#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`proftrace compare`: many runs in one table, the best of each column, and which runs no other beats in quality and cost."""
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

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE = BUILD / "proftrace"
# A "training" of some size: it computes, holds memory, and writes its grade.
PROGRAM = """
import json, sys, time
rounds, mib, grade = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
held = bytearray(mib << 20)
held[::4096] = b"x" * len(held[::4096])
for _ in range(rounds): sum(range(100000))
time.sleep(0.3)  # long enough for the memory to be seen
json.dump({"run_grade_0_100": grade, "precision_proxy": 0.5, "recall_proxy": grade / 100, "miss_rate_proxy": 1 - grade / 100, "val_loss": 2 - mib / 1000}, open("grade.json", "w"))
"""
MODELS = {"small": (20, 10, 60), "middle": (200, 100, 80), "large": (1200, 200, 80)}


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="compare-")
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        for name, (rounds, mib, grade) in MODELS.items():
            cls.pipeline(name, [sys.executable, "-c", PROGRAM, str(rounds), str(mib), str(grade)])
        cls.ask("run", "--no-report", "-o", cls.folder / "failed", "--", "sh", "-c", "exit 3", status=3)

    @classmethod
    def pipeline(cls, name, command):
        (cls.folder / name).mkdir()
        config = {"profile": {"stages": [{"stage": "prepare", "cmd": ["true"]}, {"stage": "train", "cmd": command}], "quality": {"file": "grade.json", "keys": ["val_loss"]}}}
        (cls.folder / name / "config.json").write_text(json.dumps(config), encoding="utf-8")
        cls.ask("pipeline", "--config", "config.json", cwd=cls.folder / name)

    @classmethod
    def ask(cls, *arguments, status=0, cwd=None):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
        done = subprocess.run([PROFTRACE, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=200, cwd=cwd or cls.folder, env=environment)
        assert done.returncode == status, (arguments, done.stdout + done.stderr)
        return done.stderr if status else done.stdout

    def runs(self):
        return [f"{name}={self.folder / name / 'proftrace.data/latest'}" for name in MODELS]

    def rows(self, *more):
        return {row["run"]: row for row in json.loads(self.ask("compare", *self.runs(), "--format", "json", *more))["stages"][0]["runs"]}

    def test_each_value_is_the_reports(self):
        rows = self.rows("--stage", "train")
        for name in MODELS:
            report = json.loads(self.ask("report", "--format", "json", self.folder / name / "proftrace.data/latest"))
            train = next(stage for stage in report["stages"] if stage["stage"] == "train")
            self.assertEqual((rows[name]["wall_s"], rows[name]["cpu_s"], rows[name]["memory_mb"]), (train["duration_s"], train["cpu_s"], train["rss_mb_max"]))
            self.assertEqual(rows[name]["run_grade_0_100"], report["quality_metrics"]["run_grade_0_100"])
        self.assertEqual({name: row["wall_s"] for name, row in self.rows().items()},
                         {name: json.loads(self.ask("report", "--format", "json", self.folder / name / "proftrace.data/latest"))["total_duration_s"] for name in MODELS})

    def test_the_best_of_each_column(self):
        rows = self.rows()
        self.assertIn("Memory at most", rows["small"]["best_at"])
        self.assertIn("CPU", rows["small"]["best_at"])
        self.assertEqual(sum("Time" in (row["best_at"] or "") for row in rows.values()), 1)  # of which one is luck, on a busy machine
        best = {name: (row["best_at"] or "").removeprefix("Time, ") for name, row in rows.items()}
        self.assertEqual(best["middle"], "run_grade_0_100, recall_proxy, miss_rate_proxy")
        self.assertEqual(best["large"], "run_grade_0_100, recall_proxy, miss_rate_proxy, val_loss")  # as good; all have the same precision
        self.assertNotIn("samples_per_s", rows["small"])  # no run has it: no column

    def test_the_front(self):
        # The large one is as good as the middle one, and takes longer.
        self.assertEqual({name: row["front"] for name, row in self.rows("--cost", "cpu_s").items()}, {"small": "yes", "middle": "yes", "large": "no"})
        self.assertEqual(self.rows("--cost", "cpu_s", "--quality", "val_loss")["large"]["front"], "yes")  # of a loss, less is better
        said = self.ask("compare", *self.runs(), "--cost", "memory_mb", "--quality", "recall_proxy")
        self.assertIn("no other run has more recall_proxy for less memory_mb: small, middle", said)
        said = self.ask("compare", *self.runs(), "--cost", "memory_mb", "--quality", "miss_rate_proxy")
        self.assertIn("no other run has less miss_rate_proxy for less memory_mb: small, middle", said)

    def test_the_drawing(self):
        file = self.folder / "front.svg"
        self.ask("compare", *self.runs()[:2], "a<b>&=" + str(self.folder / "large/proftrace.data/latest"), "--cost", "cpu_s", "--format", "svg", "-o", file)
        drawing = xml.etree.ElementTree.parse(file).getroot()
        titles = [title.text for title in drawing.iter("{http://www.w3.org/2000/svg}title")]
        self.assertRegex("\n".join(titles), r"small: run_grade_0_100 60, cpu_s [\d.]+, on the front\nmiddle: .*, on the front\na<b>&: run_grade_0_100 80, cpu_s [\d.]+$")

    def test_forms(self):
        self.assertRegex(self.ask("compare", *self.runs()), r"(?m)^Run +Time +run_grade_0_100 +Front +Best at .*\nsmall ")
        self.assertIn("| small |", self.ask("compare", *self.runs(), "--format", "md"))
        page = self.ask("compare", *self.runs()[:1], f"<script>={self.folder / 'large/proftrace.data/latest'}", "--format", "html")
        self.assertNotIn("<script>", page)
        self.assertIn("&lt;script&gt;", page)

    def test_a_run_that_failed_is_not_the_fastest(self):
        both = json.loads(self.ask("compare", self.folder / "failed", self.runs()[0], "--format", "json"))["stages"][0]["runs"]
        for key in ("wall_s", "cpu_s"):
            self.assertEqual((both[0][key], both[0][key + "_reason"]), (None, "the run was not whole"))
        self.assertNotIn("Time", both[0]["best_at"] or "")

    def test_a_run_whose_end_nobody_saw_is_not_the_fastest(self):
        half = self.changed("half", "small", exit=None, reason="it became another program, whose trace is not here", duration_s=0.01)
        row = json.loads(self.ask("compare", half, self.runs()[0], "--format", "json"))["stages"][0]["runs"][0]
        self.assertEqual((row["wall_s"], row["wall_s_reason"], row["best_at"]), (None, "the run was not whole", None))

    def changed(self, name, of, **values):
        """A copy of a run whose last stage has other values."""
        run = self.folder / name
        shutil.copytree((self.folder / of / "proftrace.data/latest").resolve(), run)
        report = json.loads(self.ask("report", "--format", "json", run))
        report["stages"][-1].update(values)
        (run / "report.json").write_text(json.dumps(report), encoding="utf-8")
        return run

    def of_stages(self, name, **stages):
        """A run of such stages: what they used, as in a report."""
        run = self.changed(name, "small")
        report = json.loads((run / "report.json").read_text(encoding="utf-8"))
        report["stages"] = [{**report["stages"][-1], "stage": stage, **values} for stage, values in stages.items()]
        (run / "report.json").write_text(json.dumps(report), encoding="utf-8")
        return f"{name}={run}"

    def test_what_one_stage_does_not_know(self):
        """The wait for data of a training was lost to one that had none, and a part of the CPU time was the least of all."""
        runs = [self.of_stages("all", train={"cpu_s": 9, "training": {"samples_per_s": None, "dataloader_time_pct": 35}}, eval={"cpu_s": 1}),
                self.of_stages("part", train={"cpu_s": None, "training": {"samples_per_s": None, "dataloader_time_pct": 60}}, eval={"cpu_s": 1}),
                self.of_stages("fast", train={"cpu_s": 20, "training": {"samples_per_s": 7, "dataloader_time_pct": 10}},
                               eval={"cpu_s": 1, "training": {"samples_per_s": None, "dataloader_time_pct": 50}})]
        rows = {row["run"]: row for row in json.loads(self.ask("compare", *runs, "--format", "json"))["stages"][0]["runs"]}
        self.assertEqual([(row["cpu_s"], row["data_wait_percent"]) for row in rows.values()], [(10, 35), (None, 60), (21, 10)])
        self.assertEqual(rows["part"]["cpu_s_reason"], "the CPU time of a stage was not sampled")
        self.assertIn("CPU", rows["all"]["best_at"])

    def test_words_of_what_is_less_better(self):
        for names, better in ((("loss", "val_loss", "losses", "valLoss", "lossTrain", "LOSS", "errors", "Error2", "n_errors", "misses", "missRate", "valWER", "MSELoss", "glossary_loss"), "less"),
                              (("glossary", "lossless", "bossLevel", "mistakesfound", "terror", "errorless", "fidelity", "answer", "power", "floss_x", "dismiss", "accuracy"), "more")):
            runs = []
            for run, value in (("low", 1), ("high", 2)):
                folder = self.changed(f"{better}-{run}", "small")
                report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
                report["quality_metrics"] = dict.fromkeys(names, value)
                (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
                runs.append(f"{run}={folder}")
            rows = {row["run"]: set(row["best_at"].split(", ")) for row in json.loads(self.ask("compare", *runs, "--format", "json"))["stages"][0]["runs"] if row["best_at"]}
            best, worst = ("low", "high") if better == "less" else ("high", "low")
            self.assertEqual(set(names) - rows.get(best, set()), set())
            self.assertEqual(set(names) & rows.get(worst, set()), set())

    def test_a_metrics_name_is_text_everywhere(self):
        """It is somebody's, as names of stages are; of a table's heading it coloured the terminal, and mentioned people in a pull request."""
        name = "\x1b[31mf1|x@all<b>\x9b"
        run = self.changed("hostile", "small")
        report = json.loads((run / "report.json").read_text(encoding="utf-8"))
        report["quality_metrics"] = {name: 1}
        (run / "report.json").write_text(json.dumps(report), encoding="utf-8")
        said = {form: self.ask("compare", f"hostile={run}", self.runs()[0], "--format", form, "--quality", name) for form in ("text", "md", "html")}
        for text in said.values():
            self.assertNotRegex(text, "[\x1b\x9b]")
        heading = next(line for line in said["md"].splitlines() if line.startswith("| Run"))
        self.assertRegex(heading, r"f1\\\|x.*all\\<b\\>")
        self.assertNotIn("<b>", said["html"])
        heading, row = re.search(r"(Run .*)\n(hostile .*)", said["text"]).groups()
        self.assertEqual(heading.index("Front"), row.index("yes"), said["text"])

    def test_what_was_killed_needs_no_merit_for_its_memory(self):
        """It had the least memory, and was alone on the front. What it had is told all the same."""
        killed = self.changed("killed", "small", status="failed", rss_mb_max=1, gpu_mem_mb_max=1)
        rows = {row["run"]: row for row in json.loads(self.ask("compare", f"killed={killed}", *self.runs(), "--cost", "memory_mb", "--format", "json"))["stages"][0]["runs"]}
        self.assertEqual((rows["killed"]["memory_mb"] is not None, rows["killed"]["best_at"], rows["killed"]["front"]), (True, None, "no"))
        self.assertIn("Memory at most", rows["small"]["best_at"])
        self.assertEqual([name for name, row in rows.items() if row["front"] == "yes"], ["small", "middle"])

    def test_runs_that_left_out_stages(self):
        """As they were asked to: they are whole, but no faster than one that did more."""
        folder, runs = self.folder / "parts", []
        folder.mkdir()
        stages = [{"stage": name, "cmd": ["sleep", "0.1"]} for name in ("prepare", "train")] + [{"stage": "label", "skip": "needs people"}]
        (folder / "config.json").write_text(json.dumps({"profile": {"stages": stages}}), encoding="utf-8")
        for more in (["--only", "prepare"], ["--only", "prepare"], []):
            self.ask("pipeline", "--config", "config.json", *more, cwd=folder)
            runs.append((folder / "proftrace.data/latest").resolve())
        rows = lambda *arguments: json.loads(self.ask("compare", *arguments, "--format", "json"))["stages"][0]["runs"]  # noqa: E731
        for row, run in zip(rows(*runs[:2]), runs):
            self.assertEqual(row["wall_s"], json.loads((run / "report.json").read_text(encoding="utf-8"))["total_duration_s"])
        part, whole = rows(runs[0], runs[2])
        self.assertEqual((part["wall_s"], part["wall_s_reason"]), (None, "it left out a stage that another run has"))
        self.assertGreater(whole["wall_s"], 0.2)
        part, whole = rows(runs[0], runs[2], "--stage", "prepare")
        self.assertGreater(part["wall_s"], 0.1)
        part, whole = rows(runs[0], runs[2], "--stage", "train")
        self.assertEqual((part["wall_s"], part["wall_s_reason"]), (None, "the run was not whole"))

    def test_many_quality_metrics(self):
        """What has no column is counted, and what is asked for has one: metrics beyond the 17th were not there, without a word."""
        def rows(n, *more):
            runs = []
            for run in ("a", "b"):
                where = self.folder / f"{run}-{n}"
                if not where.exists():
                    where.mkdir()
                    grade = json.dumps({f"class_{i:02}": i + (run == "b") for i in range(n)})
                    quality = {"file": "grade.json", "keys": [f"class_{i:02}" for i in range(n)]}
                    config = {"profile": {"stages": [{"stage": "grade", "cmd": ["sh", "-c", f"echo '{grade}' > grade.json"]}], "quality": quality}}
                    (where / "config.json").write_text(json.dumps(config), encoding="utf-8")
                    self.ask("pipeline", "--config", "config.json", cwd=where)
                runs.append(where / "proftrace.data/latest")
            shown = json.loads(self.ask("compare", *runs, "--format", "json", *more))
            return shown["stages"][0]["runs"][0], shown.get("notes", []), runs
        row, notes, _ = rows(26)
        self.assertEqual((sum(key.startswith("class_") and not key.endswith("_reason") for key in row), notes), (26, []))
        row, notes, runs = rows(40)
        note = "10 quality metrics are not shown: there is room for 30; --quality KEY brings one in"
        self.assertEqual((row["class_29"], row.get("class_39"), notes), (29, None, [note]))
        row, notes, _ = rows(40, "--quality", "class_39")
        self.assertEqual((row["class_39"], row["class_28"], row.get("class_29"), notes), (39, 28, None, [note]))
        for form in ("text", "md", "html"):
            self.assertIn("10 quality metrics are not shown", self.ask("compare", *runs, "--format", form))
        self.assertRegex(self.ask("compare", *runs, "--quality", "nope", status=2), "'nope' is none of class_00, .*class_29, .*class_39")

    def test_errors(self):
        self.assertIn("'size' is none of wall_s, cpu_s, memory_mb", self.ask("compare", *self.runs(), "--cost", "size", status=2))
        self.assertIn("'f1' is none of run_grade_0_100,", self.ask("compare", *self.runs(), "--quality", "f1", status=2))
        self.assertIn("no run has the quality metric 'f1'", self.ask("compare", *[self.folder / "failed"] * 2, "--quality", "f1", status=2))
        self.assertIn("has no stage none", self.ask("compare", *self.runs(), "--stage", "none", status=2))
        self.assertIn("needs a grade report", self.ask("compare", self.folder / "failed", self.folder / "failed", "--format", "svg", status=4))
        self.ask("compare", self.runs()[0], status=2)


if __name__ == "__main__":
    unittest.main()
