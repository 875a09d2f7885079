#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run named as `ls proftrace.data` shows it is found from where it was recorded, by every command that takes one."""
import os
import unittest

from launcher_case import LauncherCase

READERS = (("report",), ("stats",), ("info",), ("dump",), ("export", "--to", "chrome", "-o", "-"))


class RunName(LauncherCase):
    def only_run(self, root):
        return next(name for name in os.listdir(os.path.join(self.folder, root)) if name != "latest")

    def assert_found(self, name, **environment):
        for reader, *more in READERS:
            with self.subTest(reader=reader):
                done = self.proftrace(reader, name, *more, environment=environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout)

    def test_in_the_folder_of_the_recording(self):
        self.run_it("true")
        self.assert_found(self.only_run("proftrace.data"))

    def test_in_the_root_that_the_environment_names(self):
        self.run_it("true", environment={"PROFTRACE_DIR": os.path.join(self.folder, "elsewhere")})
        self.assert_found(self.only_run("elsewhere"), PROFTRACE_DIR=os.path.join(self.folder, "elsewhere"))

    def test_what_lies_here_comes_first(self):
        self.run_it("true")
        name = self.only_run("proftrace.data")
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(b"no trace")
        self.assertEqual(self.proftrace("report", name).returncode, 3)

    def test_a_path_is_only_a_path(self):
        self.run_it("true")
        done = self.proftrace("report", "./" + self.only_run("proftrace.data"))
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"runs lie in proftrace.data", done.stderr)


if __name__ == "__main__":
    unittest.main()
