# SPDX-License-Identifier: MIT
"""What a newcomer does, with what was built: a training under the bare preload and its report; the example pipeline, profiled."""
import importlib.util
import json
import os
import pathlib
import stat
import subprocess
import tempfile
import unittest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "example"
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"])
OURS = ("PROFTRACE_", "LD_PRELOAD", "PIPELINE_CONFIG")


class Newcomer(unittest.TestCase):
    def setUp(self):
        missing = [name for name in ("torch", "numpy", "PIL") if not importlib.util.find_spec(name)]
        if missing:
            self.skipTest(f"not installed: {', '.join(missing)}")
        folder = tempfile.TemporaryDirectory(prefix="newcomer-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, *words, **variables):
        """With nothing else set: what a fresh shell has."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
        done = subprocess.run([str(word) for word in words], cwd=self.folder, env={**clean, **variables}, capture_output=True, text=True,
                              timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_bare_preload_then_report(self):
        train = ("/usr/bin/python3", EXAMPLE / "train.py", "--data", "images", "--images", "64", "--epochs", "2")
        self.command(*train, "--prepare")
        bare = self.command(*train)
        traced = self.command(*train, LD_PRELOAD=str(BUILD / "libproftrace.so"))
        self.assertEqual(traced.stderr, bare.stderr)
        self.assertEqual(len(traced.stdout.splitlines()), len(bare.stdout.splitlines()))
        data = self.folder / "proftrace.data"
        self.assertEqual(stat.S_IMODE(data.stat().st_mode), 0o700)
        screen = self.command(BUILD / "proftrace", "report").stdout
        self.assertIn("proftrace run", screen)  # says what the launcher would add
        self.assertLess(len(screen.splitlines()), 40)
        text = self.command(BUILD / "proftrace", "report", "--full").stdout
        for part in ("Summary", "Where the time of the main thread went", "Heap by function", "images"):
            self.assertIn(part, text)
        report = json.loads(self.command(BUILD / "proftrace", "report", "--format", "json").stdout)
        self.assertGreaterEqual(len(report["processes"]), 3)  # the training and two workers an epoch
        timeline = self.command(BUILD / "proftrace", "export", "--to", "chrome")
        self.assertIn("trace.json", timeline.stdout + timeline.stderr)

    def test_example_pipeline(self):
        self.command(EXAMPLE / "run-pipeline", "--work", self.folder / "work", "--proftrace", BUILD / "proftrace", "--dataset", "coco32",
                     "--train-epochs", "1")
        profiles = self.folder / "work" / "profiles"
        report = json.loads((profiles / "report.json").read_text(encoding="utf-8"))
        status = {stage["stage"]: stage["status"] for stage in report["stages"]}
        self.assertEqual(status, {"label-targets": "skipped", "review": "skipped",
                                  **dict.fromkeys(("fetch-dataset", "fetch-dinov3", "generate-dataset", "check-dataset", "train", "infer",
                                                   "eval"), "ok")})
        for stage in report["stages"]:
            if stage["status"] == "ok":
                self.assertGreater(stage["heap"]["allocs"], 0, stage["stage"])
        quality = report["trace_quality"]
        self.assertEqual((quality["untraced"], quality["overwritten"], quality["corrupt"]), (0, 0, 0))
        self.assertIsNotNone(report["quality_metrics"]["run_grade_0_100"])
        for columns, lines in (("100", 60), ("80", 75)):
            with self.subTest(columns=columns):
                screen = self.command(BUILD / "proftrace", "report", self.folder / "work" / "proftrace.data" / "latest", COLUMNS=columns).stdout.splitlines()
                self.assertLessEqual(len(screen), lines)
                to_read = [line for line in screen if "proftrace " not in line and not line.startswith("Page ")]  # the rest is to be copied
                self.assertLessEqual(max(map(len, to_read)), int(columns))
        for name in ("report.md", "report.html"):
            self.assertIn("generate-dataset", (profiles / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
