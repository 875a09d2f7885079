# SPDX-License-Identifier: MIT
"""A command that the kernel killed for want of memory: a control group with a limit, where this user may make one."""
import json
import os
import subprocess
import sys
import unittest

from launcher_case import PROFTRACE, LauncherCase, clean_environment

LIMIT_BYTES = 96 << 20
GROWS = "kept = []\nwhile True: kept.append(bytearray(8 << 20))"
# Moves itself into the group, then becomes the command.
ENTER = "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid())); os.execvp(sys.argv[2], sys.argv[2:])"


def own_group():
    """The folder of our group where memory is limited, and the names of its files; None = there is none."""
    try:
        with open("/proc/self/cgroup", encoding="ascii") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return None
    for _, controllers, path in lines:
        if "memory" in controllers.split(","):
            return "/sys/fs/cgroup/memory" + path, "memory.limit_in_bytes"
    return next((("/sys/fs/cgroup" + path, "memory.max") for _, controllers, path in lines if not controllers), None)


class MemoryKills(LauncherCase):
    def setUp(self):
        super().setUp()
        found = own_group()
        if not found:
            self.skipTest("no control groups")
        self.group = os.path.join(found[0], f"proftrace-test-{os.getpid()}")
        try:
            os.mkdir(self.group)
            self.addCleanup(os.rmdir, self.group)
            with open(os.path.join(self.group, found[1]), "w", encoding="ascii") as file:
                file.write(str(LIMIT_BYTES))
            self.refuse_swap()
        except OSError as error:
            self.skipTest(f"no control group can be made: {error}")
        self.procs = os.path.join(self.group, "cgroup.procs")

    def refuse_swap(self):
        """A group that may swap is not killed, it becomes slow. Of memory and swap together (v1), or of swap alone (v2)."""
        for name, most in ("memory.memsw.limit_in_bytes", LIMIT_BYTES), ("memory.swap.max", 0):
            path = os.path.join(self.group, name)
            if os.path.exists(path):
                with open(path, "w", encoding="ascii") as file:
                    file.write(str(most))
                return
        with open("/proc/swaps", encoding="ascii") as file:
            if len(file.readlines()) > 1:
                self.skipTest("this machine swaps, and swap cannot be limited for a group")

    def reports(self):
        shown = self.proftrace("report", "proftrace.data/latest", "--format", "json")
        texts = [self.proftrace("report", "proftrace.data/latest", "--format", form).stdout.decode() for form in ("text", "md", "html")]
        return json.loads(shown.stdout), texts

    def check(self, ended, reason):
        self.assertEqual(ended.returncode, -9, ended.stderr)
        report, texts = self.reports()
        stage = report["stages"][0]
        self.assertEqual((stage["status"], stage["exit"]), ("failed", "signal 9 (SIGKILL)"))
        self.assertIn(reason, stage["reason"])
        for text in [*texts, ended.stderr.decode()]:
            self.assertTrue("out of memory" in text, text[:500])

    def test_in_the_group_of_the_launcher(self):
        ended = subprocess.run([sys.executable, "-c", ENTER, self.procs, PROFTRACE, "run", "--", sys.executable, "-c", GROWS],
                               cwd=self.folder, env=clean_environment(), capture_output=True, timeout=100)
        self.check(ended, "out of memory: the kernel killed 1 process of its control group")

    def test_in_a_group_of_its_own(self):
        ended = self.proftrace("run", "--", sys.executable, "-c", ENTER, self.procs, sys.executable, "-c", GROWS)
        self.check(ended, "out of memory, as it seems")

    def test_killed_by_somebody(self):
        """Not every SIGKILL is one."""
        ended = self.proftrace("run", "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
        self.assertEqual(ended.returncode, -9)
        self.assertNotIn("memory", self.reports()[0]["stages"][0]["reason"])


if __name__ == "__main__":
    unittest.main()
