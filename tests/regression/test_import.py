#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results of hyperfine and pytest-benchmark are runs: they go into a baseline, and are held against one."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE = BUILD / "proftrace"
PYTEST = pathlib.Path(__file__).resolve().parent / "pytest_benchmark.json"  # of pytest-benchmark 5.3.1, without the machine's details


class Import(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="import-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.file = self.folder / "baseline.json"

    def ask(self, *arguments, status=0):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
        done = subprocess.run([PROFTRACE, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=100, cwd=self.folder, env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if not status or done.stdout else done.stderr

    def kept(self):
        stages = {}
        for run in json.loads(self.file.read_text(encoding="utf-8"))["runs"]:
            if isinstance(run, dict):
                stages.setdefault(run["stage"], []).append(run)
        return stages

    def written(self, document):
        file = self.folder / "result.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        return file

    @unittest.skipUnless(shutil.which("hyperfine"), "needs hyperfine")
    def test_hyperfine(self):
        result = self.folder / "hyperfine.json"
        subprocess.run(["hyperfine", "-N", "--runs", "6", "--export-json", result, "sleep 0.02", "true"], check=True, capture_output=True, timeout=100)
        self.ask("baseline", "add", self.file, result)
        kept = self.kept()
        times = {one["command"]: one["times"] for one in json.loads(result.read_text(encoding="utf-8"))["results"]}
        self.assertEqual(set(kept), set(times))
        for name, values in times.items():
            for given, own in zip(sorted(values), sorted(run["figures"]["benchmark_s"] for run in kept[name]), strict=True):
                self.assertAlmostEqual(given, own, delta=1e-12)
        self.assertRegex(self.ask("check", result, "--baseline", self.file), r"^ok: ")
        # So much slower that no other program on the machine is the reason.
        slower = json.loads(result.read_text(encoding="utf-8"))
        for one in slower["results"]:
            one["times"] = [value * 20 for value in one["times"]] if one["command"].startswith("sleep") else one["times"]
        said = self.ask("check", self.written(slower), "--baseline", self.file, status=1)
        self.assertRegex(said, r"^regression: 1 figure is worse\. sleep 0\.02: benchmark_s [\d.]+ m?s -> [\d.]+ m?s \(p = 0\.00\d\)")

    def test_pytest_benchmark(self):
        self.ask("baseline", "add", self.file, PYTEST)
        kept = self.kept()
        self.assertEqual({name: len(runs) for name, runs in kept.items()}, {"test_b.py::test_sum": 6, "test_b.py::test_sorted": 6})
        self.assertEqual({(run["host"], run["commit"]) for runs in kept.values() for run in runs}, {("lab", "3f1c9a27b0de")})
        self.assertRegex(self.ask("check", PYTEST, "--baseline", self.file), r"^ok: ")
        # Without --benchmark-save-data there is one time of each, and nobody can tell.
        few = json.loads(PYTEST.read_text(encoding="utf-8"))
        for benchmark in few["benchmarks"]:
            del benchmark["stats"]["data"]
        self.assertRegex(self.ask("check", self.written(few), "--baseline", self.file, status=4), r"^undecided: ")
        few["machine_info"]["node"] = "laptop"
        self.assertIn("another machine", self.ask("check", self.written(few), "--baseline", self.file, status=4))

    def test_three_percent_of_a_benchmark_are_none(self):
        """However often it was measured: ten times were held to be as good as ten runs, and 2.5 % worse."""
        of = lambda first: self.written({"results": [{"command": "sort", "times": [first + 0.001 * i for i in range(10)]}]})  # noqa: E731
        self.ask("baseline", "add", self.file, of(1.0))
        self.assertRegex(self.ask("check", of(1.03), "--baseline", self.file), r"^ok: ")
        self.assertRegex(self.ask("check", of(1.06), "--baseline", self.file, status=1), r"^regression: 1 figure is worse")

    def test_a_time_that_has_halved_is_better(self):
        of = lambda first: self.written({"results": [{"command": "sort", "times": [first + 0.01 * i for i in range(5)]}]})  # noqa: E731
        self.ask("baseline", "add", self.file, of(4.0))
        said = self.ask("check", of(2.0), "--baseline", self.file)
        self.assertRegex(said, r"^ok: no figure is worse(.*\n)+better +benchmark_s +4\.02 s +2\.02 s +-49\.\d % +p = 0\.00\d")
        self.assertLess(json.loads(self.ask("check", of(2.0), "--baseline", self.file, "--format", "json"))["stages"][0]["figures"][0]["p"], 0.01)

    def test_benchmarks_that_were_measured_more_or_less_often(self):
        """As tools do: as often as the time that a benchmark takes allows."""
        fast, slow = {"command": "fast", "times": [0.010 + 0.0001 * i for i in range(30)]}, {"command": "slow", "times": [1 + 0.01 * i for i in range(6)]}
        result = self.written({"results": [slow, fast]})
        self.ask("baseline", "add", self.file, result, "--keep", "30")
        self.assertEqual({name: len(runs) for name, runs in self.kept().items()}, {"fast": 30, "slow": 6})
        self.assertRegex(self.ask("check", result, "--baseline", self.file), r"^ok: ")
        worse = self.folder / "worse.json"
        worse.write_text(json.dumps({"results": [{**slow, "times": [2 * time for time in slow["times"]]}]}), encoding="utf-8")
        self.written({"results": [fast]})
        said = self.ask("check", result, worse, "--baseline", self.file, status=1)
        self.assertRegex(said, r"^regression: 1 figure is worse\. slow: benchmark_s 1\.0\d+ s -> 2\.0\d+ s")
        self.assertRegex(said, r"same +benchmark_s")
        self.assertRegex(self.ask("check", result, "--baseline", self.file, status=4), r"^undecided: slow: the run has no such stage")

    def test_what_is_none(self):
        for document, status, text in (({}, 3, "neither a run directory nor"), ([], 3, "neither"), ({"results": [{}]}, 3, "no command"), ({"results": [{"command": "a"}]}, 3, "no times"),
                                       ({"results": [{"command": "a", "times": ["x"]}]}, 3, "is no number"), ({"results": [{"command": "a", "times": [-1]}]}, 3, "is no number"),
                                       ({"results": [{"command": "a", "times": [1], "exit_codes": [2]}]}, 4, "failed"), ({"benchmarks": [{}]}, 3, "no fullname"),
                                       ({"results": []}, 4, "has no benchmark"), ({"benchmarks": []}, 4, "has no benchmark")):
            self.assertIn(text, self.ask("baseline", "add", self.file, self.written(document), status=status))
        (self.folder / "result.json").write_text("{", encoding="utf-8")
        self.ask("baseline", "add", self.file, self.folder / "result.json", status=3)
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()
