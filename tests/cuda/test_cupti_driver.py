#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A program of the driver API, without any runtime: it is injected like all others, and its calls are in the trace."""
from cupti_case import CUPTI, DOUBLES, ENDED, CuptiCase, main


class DriverTest(CuptiCase):
    def test_driver_api(self):
        for options in ({}, {"program": "cupti_version 20"}):
            with self.subTest(options):
                outcome = self.run_program([f"{DOUBLES}/driver_app"], LD_LIBRARY_PATH=f"{DOUBLES}/driver:{DOUBLES}/lib", **options)
                self.assertEqual((outcome.code, outcome.out), (0, "moved\n"), outcome.err)
                self.assertEqual(outcome.states(), [CUPTI, ENDED])
                self.assert_operations(outcome)
        calls = {e["correlation"]: e for e in outcome.of("cuda_call")}
        self.assertEqual(calls, {}, "before CUDA 12.5 the calls of the driver cannot be chosen one by one: none is recorded")

    def test_calls(self):
        outcome = self.run_program([f"{DOUBLES}/driver_app"], LD_LIBRARY_PATH=f"{DOUBLES}/driver:{DOUBLES}/lib")
        calls = {e["correlation"]: e for e in outcome.of("cuda_call")}
        launches = [calls[e["correlation"]] for e in outcome.of("gpu_kernel")]
        self.assertEqual([(e["name"], e["class"]) for e in launches], [("cuLaunchKernel", 1)] * 3)
        names = [e["name"] for e in outcome.of("cuda_call")]
        self.assertEqual(names.count("cuMemcpyHtoD"), 1, names)
        self.assertIn("cuStreamSynchronize", names)
        self.assertNotIn("cuCtxSetCurrent", names)


if __name__ == "__main__":
    main()
