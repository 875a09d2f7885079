#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A program of the driver API, without any runtime: it is injected like all others, and its calls are in the trace."""
import os

from cupti_case import CUPTI, DOUBLES, ENDED, CuptiCase, main, recorded_kernels

CUDA_11 = "libcupti.so.11.8"


class DriverTest(CuptiCase):
    def libraries(self, soname):
        """A folder with that libcupti and no other; the driver's version keeps that of an installed toolkit away."""
        folder = f"{self.root}/{soname}"
        os.makedirs(folder, exist_ok=True)
        for name in (soname, "libfakegpu.so"):
            if not os.path.exists(f"{folder}/{name}"):
                os.symlink(f"{DOUBLES}/lib/{name}", f"{folder}/{name}")
        return folder

    def driver_app(self, rounds=1, program="", soname="libcupti.so.13"):
        """Rounds of a millisecond, whose buffers are full soon."""
        program += ";fault small_buffers 16;kernel_ns 300000" if rounds > 1 else ""
        outcome = self.run_program([f"{DOUBLES}/driver_app", str(rounds)], program,
                                   LD_LIBRARY_PATH=f"{DOUBLES}/driver:{self.libraries(soname)}")
        self.assertEqual((outcome.code, outcome.out), (0, "moved\n"), outcome.err)
        self.assert_operations(outcome)
        return outcome

    def assert_calls_of_the_driver(self, outcome, since_ns=0):
        """The calls of the list that began then or later, no others, with their threads."""
        offset = self.offset_ns(outcome) if since_ns else 0
        true = {t["correlation"]: t for t in outcome.true("api")}
        recorded = outcome.of("cuda_call")
        for e in recorded:
            self.assertEqual((e["name"], e.get("field_tid", e["tid"])),
                             (true[e["correlation"]]["name"].removesuffix("_v2"), true[e["correlation"]]["tid"]))
        awaited = {c for c, t in true.items() if t["start_ns"] > since_ns + offset and
                   t["name"].startswith(("cuLaunch", "cuMemcpy", "cuMem", "cuStreamSync"))}
        self.assertLessEqual(awaited, {e["correlation"] for e in recorded})
        self.assertNotIn("cuCtxSetCurrent", {e["name"] for e in recorded})

    def test_calls(self):
        outcome = self.driver_app()
        self.assertEqual(outcome.states(), [CUPTI, ENDED])
        self.assert_calls_of_the_driver(outcome)
        calls = {e["correlation"]: e for e in outcome.of("cuda_call")}
        launches = [calls[e["correlation"]] for e in outcome.of("gpu_kernel")]
        self.assertEqual([(e["name"], e["class"]) for e in launches], [("cuLaunchKernel", 1)] * 3)
        self.assertIn("cuModuleLoadData", {e["name"] for e in calls.values()})

    def test_before_12_5(self):
        """Calls cannot be chosen one by one there. All are switched on once a kernel comes that nobody launched."""
        for soname, program in ((CUDA_11, "driver_version 11080"), ("libcupti.so.12", "driver_version 12020;cupti_version 20")):
            with self.subTest(soname):
                outcome = self.driver_app(1500, program, soname)
                self.assertEqual(outcome.states(), [CUPTI, CUPTI, ENDED])
                told = outcome.of("gpu_tracing")[1]
                self.assertIn(soname, told["reason"])
                self.assertTrue(told["reason"].endswith("from now on with calls of the driver: they launch kernels, too"), told)
                self.assert_calls_of_the_driver(outcome, told["start_ns"])
                known = {e["correlation"] for e in outcome.of("cuda_call")} & {k[1] for k in recorded_kernels(outcome)}
                self.assertGreater(len(known), 300, "half a second was enough")

    def test_before_12_5_refused(self):
        """CUPTI refuses them (its twelfth kind here): asked once, said once, all else is there."""
        outcome = self.driver_app(1500, "driver_version 11080;error cuptiActivityEnable 27 11", CUDA_11)
        self.assertEqual(outcome.states(), [CUPTI, CUPTI, ENDED])
        self.assertIn("without DRIVER (error 27), whose calls launch kernels", outcome.of("gpu_tracing")[1]["reason"])
        self.assertEqual(outcome.of("cuda_call"), [])

    def test_runtime_alone_pays_nothing(self):
        """Where the runtime launches all kernels nothing is switched, whatever the order of buffers and records. So few launches
        that the small buffers do even if CUPTI's thread does not run meanwhile."""
        for program in ("", "fault shuffle", "fault small_buffers 3", "worker 0"):
            with self.subTest(program):
                outcome = self.workload("threads", 80, major=12, version=20, program=program)
                self.assertEqual(outcome.states(), [CUPTI, ENDED])
                self.assert_calls(outcome)

    def test_lost_calls_accuse_nobody(self):
        """A kernel whose call is among records that were lost was not launched by the driver's API for that. So few launches that all 5,184
        buffers are never out at once: CUPTI before 12.9 then shares one between threads, which the double does not take."""
        outcome = self.workload("threads", 300, major=12, version=20, program="fault small_buffers 2;worker 150")
        self.assertEqual(outcome.states(), [CUPTI, ENDED])


if __name__ == "__main__":
    main()
