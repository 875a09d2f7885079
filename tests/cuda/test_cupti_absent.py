#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A process that does not use CUDA does not pay for it: no library is opened, nothing is mapped, no system call is made."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from cupti_case import BUILD, CuptiCase, main

WORDS = re.compile(r"lib(cupti|cudart|cuda\.|nvidia|torch)")


class NoDriverTest(CuptiCase):
    def gpu_of(self, *command):
        outcome = self.run_program(command, LD_LIBRARY_PATH="")
        self.assertEqual(outcome.code, 0, outcome.err)
        done = subprocess.run([f"{BUILD}/proftrace", "report", f"{outcome.folder}/trace/latest", "--format", "json"], check=True,
                              capture_output=True, text=True, timeout=200)
        return json.loads(done.stdout)["stages"][0].get("gpu")

    def test_static_runtime(self):
        """Nothing is wrapped and no driver comes up: the report says why it knows nothing, by the executable; of other programs nothing."""
        gpu = self.gpu_of(f"{BUILD}/cuda/gpu_code_host")
        self.assertEqual((gpu["source"], gpu["completeness_percent"], gpu["devices"]), ("none", None, []))
        self.assertIn("gpu_code_host holds GPU code, but never loaded the CUDA driver (libcuda.so.1)", gpu["reason"])
        self.assertIsNone(self.gpu_of("/bin/true"))

    def test_driver_in_vain(self):
        """A program that looks for the driver by itself and finds none."""
        gpu = self.gpu_of(f"{BUILD}/cuda/driver_seeker")
        self.assertEqual((gpu["source"], gpu["completeness_percent"], gpu["devices"]), ("none", None, []))
        self.assertIn("driver_seeker asks for libcuda.so by itself, but never loaded the CUDA driver (libcuda.so.1): there is none",
                      gpu["reason"])

    @unittest.skipUnless(shutil.which("nvcc"), "no nvcc")
    def test_static_runtime_of_nvcc(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fakecuda", "programs", "app.cu")
        program = f"{self.folder()}/app"
        subprocess.run(["nvcc", "-cudart", "static", "-o", program, source], check=True, capture_output=True, timeout=120)
        self.assertEqual(self.gpu_of(program)["source"], "none")


@unittest.skipUnless(shutil.which("strace"), "no strace")
class AbsentTest(CuptiCase):
    def system_calls(self, *command, **environment):
        folder = self.folder()
        subprocess.run(["strace", "-f", "-o", f"{folder}/log", *command], cwd=folder, check=True, timeout=200, capture_output=True,
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
            # who loses the CPU between two readings of clocks looks whether the machine has been booted since
            lines = [line for line in self.system_calls("/bin/true", **options) if "boot_id" not in line]
            calls = collections.Counter(re.sub(r"^\d+ +", "", line).split("(")[0] for line in lines)
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
