# SPDX-License-Identifier: MIT
"""A trace file that lost its tail, in a copy that broke off or on a full disk: what can be read is shown, and nothing else is said."""
import glob
import json
import os
import unittest

from launcher_case import LauncherCase

PROGRAM = "for i in range(3000):\n    open('/etc/hostname').read()\n"


class CutTrace(LauncherCase):
    def setUp(self):
        super().setUp()
        self.run_it("/usr/bin/python3", "-S", "-c", PROGRAM)
        (self.file,) = glob.glob(os.path.join(self.folder, "proftrace.data", "latest", "*.ptr"))
        self.whole = json.loads(self.proftrace("report", self.file, "--format", "json").stdout)

    def cut(self, bytes_left):
        path = os.path.join(self.folder, f"cut-{bytes_left}.ptr")
        with open(self.file, "rb") as source, open(path, "wb") as copy:
            copy.write(source.read()[:bytes_left])
        return path

    def test_report(self):
        size = os.path.getsize(self.file)
        had = self.whole["processes"][0]
        for part in (0.02, 0.1, 0.25, 0.4, 0.6, 0.9):
            with self.subTest(part=part):
                path = self.cut(int(size * part))
                report = json.loads(self.proftrace("report", path, "--format", "json").stdout)
                process, quality = report["processes"][0], report["trace_quality"]
                if process["io"] is None:
                    self.assertIn("cut short", process["io_reason"])
                    self.assertEqual((process["heap"]["allocs"], report["stages"][0]["heap"]["allocs"]), (None, None))
                else:
                    self.assertEqual((process["io"], process["heap"]["allocs"]), (had["io"], had["heap"]["allocs"]))
                self.assertEqual((quality["cut_files"], quality["overwritten"]), (1, 0))
                self.assertLessEqual(quality["events"] + quality["corrupt"], self.whole["trace_quality"]["events"])
                rules = [finding["rule"] for finding in report["findings"]]
                self.assertIn("trace_cut_short", rules)
                self.assertFalse({"nothing_captured", "events_lost"} & set(rules), rules)
                page = self.proftrace("report", path, "--format", "html", "-o", "-").stdout.decode()
                self.assertIn("trace files are cut short", page)

    def test_info(self):
        done = self.proftrace("info", self.cut(5000))
        self.assertIn(b"its tail is missing", done.stdout)
        self.assertIn(b"copy the files again", done.stdout)
        self.assertNotIn(b"doctor", done.stdout)


if __name__ == "__main__":
    unittest.main()
