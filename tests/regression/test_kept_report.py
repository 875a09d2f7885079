#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report that was made when a run ended is not made again for `diff`, `check` and `compare`, unless something was changed since."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE = BUILD / "proftrace"
MARK = 123456.5


class KeptReport(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="kept-", dir=BUILD)
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
        done = subprocess.run([PROFTRACE, "run", "-o", "run", "--", "/usr/bin/python3", "-c", "open('/etc/hosts').read()"], cwd=self.folder,
                              env=self.environment, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.kept = self.folder / "run/report.json"

    def wall(self, proftrace=PROFTRACE):
        done = subprocess.run([proftrace, "diff", "--json", "run", "run"], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["stages"][0]["times"][0]["a"]

    def mark(self, change=lambda report: None):
        """A number that only the kept report can have."""
        report = json.loads(self.kept.read_text())
        report["stages"][0]["duration_s"] = MARK
        change(report)
        self.kept.write_text(json.dumps(report))

    def test_it_says_what_would_be_said_now(self):
        now = json.loads(subprocess.run([PROFTRACE, "report", "--format", "json", "run"], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=100, check=True).stdout)
        kept = json.loads(self.kept.read_text())
        for report in now, kept:
            report["run"] = None  # as it was named
        self.assertEqual(kept, now)
        self.mark()
        self.assertEqual(self.wall(), MARK)

    def test_not_when_the_run_was_changed_since(self):
        for name in "run.json", next(path.name for path in (self.folder / "run").iterdir() if path.name.endswith((".ptr", ".pts"))):
            with self.subTest(name=name):
                self.mark()
                later = time.time() + 5
                os.utime(self.folder / "run" / name, (later, later))
                self.assertNotEqual(self.wall(), MARK)
                os.utime(self.folder / "run" / name, (1, 1))
                self.assertEqual(self.wall(), MARK)

    def test_not_where_another_build_was_installed_since(self):
        """A package keeps the time at which the file was built."""
        self.mark()
        time.sleep(0.05)
        installed = pathlib.Path(shutil.copy2(PROFTRACE, self.folder / "proftrace"))
        self.assertLess(installed.stat().st_mtime, self.kept.stat().st_mtime)
        self.assertNotEqual(self.wall(installed), MARK)

    def test_not_of_another_version_nor_damaged(self):
        self.mark(lambda report: report.update(tool="proftrace 0.0.9"))
        self.assertNotEqual(self.wall(), MARK)
        self.kept.write_text("{")
        self.assertLess(self.wall(), MARK)
        self.kept.unlink()
        self.kept.symlink_to("/etc/hosts")
        self.assertLess(self.wall(), MARK)


if __name__ == "__main__":
    unittest.main()
