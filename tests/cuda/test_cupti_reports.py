#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every fault of the doubles ends in a truthful report: it has all that the GPU did, or it says that it has not, and why.

Which faults there are is read from the doubles' own list: one that is added is tried here without being named.
"""
import json
import os
import re
import subprocess

from cupti_case import BUILD, DOUBLES, CuptiCase, main

PROGRAM_DEF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fakecuda", "engine", "program.def")
ARGUMENTS = {"drop": 5, "zero_time": 5, "reversed_time": 5, "unknown_kind": 3, "long_record": 16, "small_buffers": 50, "wild_record": 1,
             "null_name": 2, "hostile_name": 2, "slow_flush": 20, "enable": 35, "sticky": 20, "init_result": 100}


def faults():
    with open(PROGRAM_DEF, encoding="utf-8") as file:
        return re.findall(r"^FAULT\((\w+)", file.read(), re.MULTILINE)


class ReportTest(CuptiCase):
    def report(self, case, program=""):
        """(what the GPU truly did, how often; the gpu object of the report)"""
        outcome = self.run_program([f"{DOUBLES}/workload_13", case, "20"], program)
        done = subprocess.run([f"{BUILD}/proftrace", "report", f"{outcome.folder}/trace/latest", "--format", "json"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return len(outcome.true("kernel", "copy", "set")), json.loads(done.stdout)["stages"][0]["gpu"]

    def assert_truthful(self, true, gpu):
        recorded = sum(device[key] for device in gpu["devices"] for key in ("kernels_calls", "copies_calls"))
        self.assertLessEqual(len(gpu["devices"]), 1, "there is one GPU")
        self.assertLessEqual(recorded, true)
        if recorded < true:
            self.assertTrue(gpu["reason"], "it says why")
            self.assertTrue(gpu["completeness_percent"] is None or gpu["completeness_percent"] < 100)
        elif gpu["completeness_percent"] == 100:
            self.assertIsNone(gpu["reason"])

    def test_every_fault(self):
        self.assertGreater(len(faults()), 15)
        for fault in faults():
            with self.subTest(fault):
                self.assert_truthful(*self.report("basic", f"fault {fault} {ARGUMENTS.get(fault, '')}"))

    def test_sudden_end(self):
        """What a killed process did last may be missing; what still runs at exit has no times."""
        true, gpu = self.report("killed")
        self.assert_truthful(true, gpu)
        self.assertIsNone(gpu["completeness_percent"])
        self.assertIn("otherwise than by exit", gpu["reason"])
        true, gpu = self.report("unfinished", "kernel_ns 2000000000")
        self.assert_truthful(true, gpu)
        self.assertIn("had not ended", gpu["reason"])


if __name__ == "__main__":
    main()
