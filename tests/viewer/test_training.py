#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The main job: a PyTorch training with two DataLoader workers, traced with nothing but the preload, then reported in all
forms and opened in the Perfetto engine."""
import json
import os
import subprocess
import unittest

from viewer_case import BUILD, SOURCE, ViewerCase

LIBRARY, PROFTRACE = BUILD / "libproftrace.so", BUILD / "proftrace"
EXAMPLE = SOURCE / "scripts" / "example" / "train.py"


def why_no_torch():
    ran = subprocess.run(["/usr/bin/python3", "-c", "import torch, PIL"], capture_output=True, check=False)
    return None if ran.returncode == 0 else "the system's python3 has no torch and PIL (Debian packages python3-torch, python3-pil)"


class Training(ViewerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        reason = why_no_torch()
        if reason:
            raise unittest.SkipTest(reason)
        environment = dict(os.environ, LD_PRELOAD=str(LIBRARY), PROFTRACE_DIR=str(cls.folder / "data"))
        command = ["/usr/bin/python3", EXAMPLE, "--data", "images", "--images", "64", "--epochs", "2"]
        subprocess.run(command, cwd=cls.folder, env=environment, check=True, capture_output=True)
        cls.run_folder = cls.folder / "data" / "latest"

    def report(self, form):
        ran = subprocess.run([PROFTRACE, "report", self.run_folder, "--format", form], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def test_timeline_opens_with_equal_counts(self):
        ran = subprocess.run([PROFTRACE, "export", self.run_folder, "--to", "chrome", "--json"], capture_output=True, text=True,
                             check=True)
        written = json.loads(ran.stdout)
        self.check_trace(self.run_folder / "trace.json.gz", written)
        self.assertEqual(written["left_out"], 0)
        self.assertGreaterEqual(written["processes"], 5)  # the trainer, and two workers in each of two epochs

    def test_reports(self):
        report = json.loads(self.report("json"))
        workers = [process for process in report["processes"] if process["ppid"] == report["processes"][0]["pid"]]
        self.assertGreaterEqual(len(workers), 4)
        for worker in workers[:4]:
            self.assertGreater(worker["io"]["read"]["bytes"], 0, "the workers read the images")
        self.assertEqual(report["trace_quality"]["dropped"], 0)
        self.assertIn("# Pipeline Profile Report", self.report("md"))
        self.assertIn("proftrace export", self.report("text"))


if __name__ == "__main__":
    unittest.main()
