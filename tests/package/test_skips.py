#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the wheel's tests cannot do on a machine is named and no pass: without debootstrap, without Debian's mirror, without PyPI; and so it is
counted in the closing line of scripts/test-slow."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
COMMON = HERE.parent.parent / "scripts/lib/common.sh"


class Roots(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="skips-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        (self.folder / "proftrace.whl").touch()

    def program(self, name, text=None):
        """A program of the only folder on PATH: the machine's own, or a script."""
        path = self.folder / "bin" / name
        if text is None:
            path.symlink_to(shutil.which(name))
        else:
            path.write_text(text, encoding="ascii")
            path.chmod(0o755)

    def play(self, test, script=HERE / "test_roots.py", **more):
        environment = {"PATH": str(self.folder / "bin"), "PROFTRACE_TEST_CACHE": str(self.folder / "cache"), "PROFTRACE_TEST_WHEEL": str(self.folder / "proftrace.whl"), **more}
        return subprocess.run([sys.executable, script, test], env=environment, capture_output=True, text=True, timeout=200, check=False)

    def assert_skipped(self, done, reason):
        self.assertRegex(done.stdout, rf"(?m)^skipped: test_\w+: .*{reason}")
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)

    def test_without_a_wheel(self):
        elsewhere = self.folder / "tests/package"  # beside it nobody has built one
        elsewhere.mkdir(parents=True)
        script = shutil.copy(HERE / "test_roots.py", elsewhere)
        self.assert_skipped(self.play("Audit.test_auditwheel", script, PROFTRACE_TEST_WHEEL=""), "no wheel")

    @unittest.skipIf(os.geteuid(), "not root: that comes first")
    def test_without_debootstrap(self):
        self.program("unshare", "#!/bin/sh\n")
        self.assert_skipped(self.play("Roots.test_debian_12"), "debootstrap is not installed")

    @unittest.skipIf(os.geteuid(), "not root: that comes first")
    def test_without_the_mirror(self):
        self.program("unshare", "#!/bin/sh\n")
        self.program("debootstrap", "#!/bin/sh\necho 'E: Failed getting release file'\nexit 1\n")
        self.assert_skipped(self.play("Roots.test_debian_12"), "debootstrap of bookworm failed, .*Failed getting release file")

    def test_without_auditwheel(self):
        self.assert_skipped(self.play("Audit.test_auditwheel", PIP_NO_INDEX="1", PIP_FIND_LINKS=""), "auditwheel cannot be had")


class Tally(unittest.TestCase):
    def closing(self, *commands):
        text = "\n".join([f". {COMMON}", *(f"also {one}" for one in commands), "tally"])
        done = subprocess.run(["bash", "-u", "-c", text], capture_output=True, text=True, check=False)
        return done.stdout, done.returncode

    def test_a_skip_is_no_pass(self):
        self.assertEqual(self.closing("true", "sh -c 'exit 77'", "true"), ("skipped: sh -c exit 77\n2 passed, 0 failed, 1 skipped\n", 0))

    def test_a_failure_is_one(self):
        self.assertEqual(self.closing("true", "false", "sh -c 'exit 2'"), ("1 passed, 2 failed\n", 1))

    def test_without_skips_the_line_is_as_ever(self):
        self.assertEqual(self.closing("true"), ("1 passed, 0 failed\n", 0))

    def test_every_package_that_the_systems_need_is_listed(self):
        listed = (HERE.parent.parent / "scripts/packages/roots.txt").read_text(encoding="ascii")
        self.assertIn("\ndebootstrap ", listed)
        self.assertIn("packages_install wheel roots", (HERE.parent.parent / "scripts/test-slow").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
