#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A process that does not use CUDA does not pay for it: no library is opened, nothing is mapped, no system call is made."""
import collections
import re
import shutil
import subprocess
import sys
import unittest

from cupti_case import CuptiCase, main

WORDS = re.compile(r"lib(cupti|cudart|cuda\.|nvidia|torch)")


@unittest.skipUnless(shutil.which("strace"), "no strace")
class AbsentTest(CuptiCase):
    def system_calls(self, *command, **environment):
        folder = self.folder()
        subprocess.run(["strace", "-f", "-o", f"{folder}/log", *command], cwd=folder, check=True, timeout=60, capture_output=True,
                       env=self.environment(folder, **environment))
        with open(f"{folder}/log", encoding="utf-8", errors="replace") as log:
            return log.read().splitlines()

    def test_nothing_is_looked_for(self):
        for command in (["/bin/true"], [sys.executable, "-c", "import json, ctypes, subprocess; subprocess.run(['true'])"]):
            with self.subTest(command[0]):
                opened = [line for line in self.system_calls(*command) if re.search(r"open|access|stat|readlink", line)]
                # the library's own folder may be named after anything
                self.assertEqual([line for line in opened if WORDS.search(re.sub(r'"[^"]*libproftrace.so"', "", line))], [])

    def test_no_more_system_calls(self):
        """With and without the CUDA part a process does the same."""
        def profile(**options):
            calls = collections.Counter(re.sub(r"^\d+ +", "", line).split("(")[0] for line in self.system_calls("/bin/true", **options))
            return calls["mmap"], calls["openat"] + calls["open"], calls["madvise"]
        self.assertEqual(profile(PROFTRACE_CUPTI="yield"), profile(PROFTRACE_CUPTI="off"))

    def test_stand_ins_without_cupti(self):
        """A program that asks for CUPTI's functions by name where there is none gets an error from ours, not a crash."""
        script = ("import ctypes; program = ctypes.CDLL(None)\n"
                  "calls = [program.cuptiActivityEnable(10), program.cuptiUnsubscribe(None), program.cuptiFinalize(),\n"
                  "         program.cuptiSubscribe(None, None, None), program.cuptiActivityFlushAll(1)]\n"
                  "print(calls)")
        outcome = self.run_program([sys.executable, "-c", script], LD_LIBRARY_PATH="")
        self.assertEqual((outcome.code, outcome.out), (0, "[999, 999, 999, 999, 999]\n"), outcome.err)


if __name__ == "__main__":
    main()
