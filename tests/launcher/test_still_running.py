# SPDX-License-Identifier: MIT
"""A run that is still going on is told apart from one whose processes were killed."""
import json
import os
import subprocess
import unittest

from launcher_case import LIBRARY, LauncherCase, clean_environment


class StillRunning(LauncherCase):
    def ends(self):
        info = self.proftrace("info", "run", "--json")
        self.assertEqual(info.returncode, 0, info.stderr)
        report = self.proftrace("report", "run", "--format", "json")
        self.assertEqual(report.returncode, 0, report.stderr)
        document, report = json.loads(info.stdout), json.loads(report.stdout)
        notes = [note for note in report["trace_quality"]["notes"] if "still running" in note]
        return document["processes"][-1]["exit"], report["processes"][-1]["exit"], notes

    def is_recorded(self):
        info = self.proftrace("info", "run", "--json")
        return info.returncode == 0 and json.loads(info.stdout)["processes"]

    def test_alive_then_killed(self):
        os.mkdir(os.path.join(self.folder, "run"), 0o700)
        environment = clean_environment(LD_PRELOAD=LIBRARY, PROFTRACE_SESSION=os.path.join(self.folder, "run"))
        process = subprocess.Popen(["/bin/sh", "-c", "read line; read line"], cwd=self.folder, env=environment, stdin=subprocess.PIPE)
        self.addCleanup(self.end, process)
        process.stdin.write(b"begin\n")
        process.stdin.flush()
        self.wait_for(self.is_recorded)
        self.assertEqual(self.ends(), ("still running", "still running",
                                       ["1 process is still running: this is what was recorded until now"]))
        self.assertIn(b"still running", self.proftrace("info", "run").stdout)
        process.kill()
        process.wait()
        self.assertEqual(self.ends(), (None, None, []))
        self.assertIn(b"no end seen", self.proftrace("info", "run").stdout)


if __name__ == "__main__":
    unittest.main()
