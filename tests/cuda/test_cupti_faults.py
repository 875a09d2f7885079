#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Whatever CUPTI does, the program runs as without us and the trace is truthful: what is not in it is counted, with the reason."""
import os
import pathlib
import shutil

from cupti_case import CUPTI, DOUBLES, ENDED, OFF, WRAPPED, CuptiCase, main, true_kernels

DROPPED = "CUPTI dropped them: its own buffers were full"
NO_TIME = "CUPTI gave them no valid times: their work had not ended, or its buffers on the GPU were full"
UNKNOWN = "of a kind that this version of proftrace does not know"


class RefusalTest(CuptiCase):
    def assert_wrapped(self, outcome, reason, states=(WRAPPED,)):
        self.assertEqual(outcome.states(), list(states))
        self.assertIn(reason, outcome.of("gpu_tracing")[-1]["reason"])
        self.assertEqual(outcome.of("gpu_kernel"), [])

    def test_another_tool(self):
        self.assert_wrapped(self.workload("basic", 2, program="fault subscribe39"), "another tool has CUPTI")

    def test_driver_that_does_not_fit(self):
        self.assert_wrapped(self.workload("basic", 2, program="error cuptiSubscribe 999"), "error 999")
        self.assert_wrapped(self.workload("basic", 2, program="error cuptiSubscribe 15"), "error 15")

    def test_no_driver(self):
        """A program that finds no driver is told so as without us; CUPTI was never tried."""
        outcome = self.workload("basic", 1, program="fault no_driver", code=1)
        self.assertIn("35 cudaErrorInsufficientDriver", outcome.err)
        self.assert_wrapped(outcome, "no driver")

    def test_clock_refused(self):
        self.assert_wrapped(self.workload("basic", 1, program="error cuptiActivityRegisterTimestampCallback 999"), "our clock")

    def test_buffers_refused(self):
        self.assert_wrapped(self.workload("basic", 1, program="error cuptiActivityRegisterCallbacks 1"), "our buffers")

    def test_real_library_without_driver(self):
        """NVIDIA's own libcupti on a machine without a driver, where a toolkit is installed."""
        real = os.path.realpath("/usr/local/cuda/lib64/libcupti.so.13")
        if not os.path.exists(real) or os.path.exists("/dev/nvidiactl"):
            self.skipTest("no toolkit, or a driver")
        lib = f"{self.root}/lib"
        os.mkdir(lib)
        for name in ("libcudart.so.13", "libfakegpu.so"):
            shutil.copy(f"{DOUBLES}/lib/{name}", lib)
        os.symlink(real, f"{lib}/libcupti.so.13")
        os.mkdir(f"{self.root}/bin")
        program = shutil.copy(f"{DOUBLES}/workload_13", f"{self.root}/bin")
        outcome = self.run_program([program, "basic", "1"], LD_LIBRARY_PATH=lib)
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        self.assert_wrapped(outcome, "finds no driver that it can work with: cuptiSubscribe gave error 999")

    def test_version_unknown(self):
        """Layouts follow the version: without it nothing can be read."""
        self.assert_wrapped(self.workload("basic", 1, program="error cuptiGetVersion 15"), "cuptiGetVersion failed")

    def test_first_call_fails(self):
        """cuInit fails after we were injected: the program is told so, nothing was done, and nothing is claimed."""
        outcome = self.workload("basic", 1, program="fault init_result 100", code=1)
        self.assertIn("100 cudaErrorNoDevice", outcome.err)
        self.assertEqual((outcome.states(), outcome.of("gpu_kernel"), outcome.lost()), ([CUPTI, ENDED], [], {}))

    def test_finalize_is_never_called(self):
        self.assert_operations(self.workload("basic", 1, program="fault finalize_hang", timeout=60))

    def test_no_permission(self):
        outcome = self.workload("basic", 2, program="fault enable 35")
        self.assert_wrapped(outcome, "CONCURRENT_KERNEL (error 35)")
        self.assertTrue(outcome.of("gpu_tracing")[-1]["reason"].endswith("GRAPH_TRACE (error 35)"), "not cut in the middle")

    def test_some_kinds_only(self):
        """Old CUPTIs do not know all kinds: the rest is recorded, and the sentence says what is not."""
        outcome = self.workload("basic", 2, major=11, version=14)
        self.assertEqual(outcome.states(), [CUPTI, ENDED])
        self.assertIn("without MEMORY2 (error 21), MEMORY_POOL (error 21), GRAPH_TRACE (error 21)",
                      outcome.of("gpu_tracing")[0]["reason"])
        self.assert_operations(outcome)

    def test_options(self):
        self.assert_wrapped(self.workload("basic", 1, PROFTRACE_CUPTI="off"), "PROFTRACE_CUPTI=off")
        outcome = self.workload("basic", 1, PROFTRACE_CUPTI="share")
        self.assertEqual(outcome.states(), [CUPTI, ENDED])
        self.assertTrue(outcome.of("gpu_tracing")[0]["reason"].endswith("none of yield, own, off: taken for yield"))
        outcome = self.workload("basic", 1, PROFTRACE_CUDA="0")
        self.assertIn(outcome.states(), ([OFF], []))
        self.assertEqual(outcome.of("cuda_call"), [])

    def test_no_library(self):
        """A runtime without its profiling library, as in slim containers."""
        lib = f"{self.root}/lib"
        os.mkdir(lib)
        for name in ("libcudart.so.13", "libfakegpu.so"):
            shutil.copy(f"{DOUBLES}/lib/{name}", lib)
        os.mkdir(f"{self.root}/bin")
        program = shutil.copy(f"{DOUBLES}/workload_13", f"{self.root}/bin")
        outcome = self.run_program([program, "basic", "1"], LD_LIBRARY_PATH=lib, CUDA_HOME="", CUDA_PATH="")
        self.assertEqual(outcome.code, 0, outcome.err)
        if os.path.exists("/etc/ld.so.cache") and b"libcupti.so" in pathlib.Path("/etc/ld.so.cache").read_bytes():
            self.assertEqual(len(outcome.states()), 1)  # the machine's own libcupti was found by name; it finds no driver
        else:
            self.assert_wrapped(outcome, "no libcupti was found")

    def test_optional_functions_fail(self):
        for function in ("cuptiActivityFlushPeriod", "cuptiActivitySetAttribute", "cuptiActivityEnableDriverApi",
                         "cuptiActivityGetNumDroppedRecords", "cuptiGetTimestamp", "cuptiActivityEnableRuntimeApi"):
            with self.subTest(function):
                outcome = self.workload("basic", 2, program=f"error {function} 27")
                self.assert_operations(outcome)

    def test_no_thread_ids(self):
        """Threads as CUPTI numbers them by itself mean nothing outside: better none than wrong ones."""
        outcome = self.workload("basic", 2, program="error cuptiSetThreadIdType 27")
        self.assert_operations(outcome)
        tids = {t["tid"] for t in outcome.true("api")}
        self.assertTrue(all(e.get("field_tid", 0) == 0 or e["tid"] in tids for e in outcome.of("cuda_call")))


class RecordFaultTest(CuptiCase):
    def operations(self, outcome):
        recorded = len(outcome.of("gpu_kernel")) + len(outcome.of("gpu_copy")) + len(outcome.of("gpu_set"))
        return recorded, len(outcome.true("kernel", "copy", "set"))

    def test_dropped(self):
        for worker in (0, 1):
            outcome = self.workload("basic", 40, program=f"fault drop 10;worker {worker}")
            recorded, true = self.operations(outcome)
            self.assertEqual((recorded + outcome.lost()[DROPPED], outcome.lost()[DROPPED]), (true, true // 10))

    def test_bad_times(self):
        outcome = self.workload("basic", 40, program="fault zero_time 7;fault reversed_time 11")
        recorded, true = self.operations(outcome)
        self.assertGreater(outcome.lost()[NO_TIME], 40)
        self.assertEqual(recorded + outcome.lost()[NO_TIME], true)
        self.assert_times(outcome)

    def test_order(self):
        outcome = self.workload("threads", 100, program="fault shuffle")
        self.assert_operations(outcome)
        self.assert_times(outcome)

    def test_unknown_kinds(self):
        """A later CUPTI sends what we cannot know: stepped over and counted, all else is there."""
        outcome = self.workload("basic", 20, program="fault unknown_kind 5")
        self.assert_operations(outcome)
        self.assertGreater(outcome.lost()[UNKNOWN], 10)

    def test_longer_records(self):
        for bytes_more in (8, 16, 64):
            with self.subTest(bytes_more):
                outcome = self.workload("basic", 10, program=f"fault long_record {bytes_more}")
                self.assert_operations(outcome)
                self.assertEqual(outcome.lost(), {})

    def test_names(self):
        outcome = self.workload("basic", 10, program="fault null_name 3")
        names = [e["name"] for e in outcome.of("gpu_kernel")]
        self.assertEqual(names.count(None), 10)
        self.assertEqual(recorded_ids(outcome), [row[:3] for row in true_kernels(outcome)])
        outcome = self.workload("basic", 10, program="fault hostile_name 3")
        self.assertEqual(len(outcome.of("gpu_kernel")), 30)
        self.assertEqual(max(len(e["name"]) for e in outcome.of("gpu_kernel")), 4096, "cut, not lost")

    def test_no_names_of_calls(self):
        """Calls cannot be told apart then; all are there, and say so."""
        outcome = self.workload("basic", 2, program="error cuptiGetCallbackName 1")
        self.assert_operations(outcome)
        self.assertEqual({e["name"] for e in outcome.of("cuda_call") if e["correlation"]}, {"call of the runtime without a name"})

    def test_walk_fails(self):
        """CUPTI's walk through a buffer ends in an error: what lies behind is lost, and counted as such."""
        outcome = self.workload("basic", 20, program="error cuptiActivityGetNextRecord 999 50 1")
        recorded, true = self.operations(outcome)
        self.assertLess(recorded, true)
        self.assertEqual([n for reason, n in outcome.lost().items() if reason.startswith("cut short")], [1])

    def test_many_small_buffers(self):
        """So many that they do even if none comes back meanwhile: on a busy machine, CUPTI's thread may not run for long."""
        outcome = self.workload("threads", 80, program="fault small_buffers 3")
        self.assert_operations(outcome)
        self.assertEqual(outcome.lost(), {})

    def test_no_buffer(self):
        """More buffers at once than there are: CUPTI gets memory to discard, zeroed (the double looks), and what landed there is
        counted. Beyond that it gets none and counts by itself, or, where it would crash, all get the same, and we count about."""
        program = "fault small_buffers 2;worker 0;kernel_ns 100;queue_depth 65536"
        for launches, version, is_exact in ((3000, 130001, True), (6000, 130001, True), (6000, 26, False)):
            with self.subTest(launches=launches, version=version):
                outcome = self.workload("queue", launches, program=program, version=version)
                kernels = {e["correlation"] for e in outcome.of("gpu_kernel")}
                self.assertLess(kernels, {t["correlation"] for t in outcome.true("kernel")})
                missing = 2 * launches - len(kernels) - sum(e["name"] == "cudaLaunchKernel" for e in outcome.of("cuda_call"))
                lost = sum(n for reason, n in outcome.lost().items() if reason.startswith("no buffer") or reason == DROPPED)
                self.assertGreater(lost, 1000)
                if is_exact:
                    self.assertLess(abs(lost - missing), 8, "a few are of the call that waits, of loading and of what is there")

    def test_cut_records(self):
        outcome = self.workload("basic", 40, program="fault wild_record 2;fault small_buffers 16")
        recorded, true = self.operations(outcome)
        cut = sum(n for reason, n in outcome.lost().items() if reason.startswith("cut short"))
        self.assertGreater(cut, 0)
        self.assertLess(recorded, true + 1)
        calls = len(outcome.of("cuda_call")) + sum(len(outcome.of(f"gpu_{k}")) for k in ("sync", "overhead", "memory"))
        self.assertGreaterEqual(recorded + cut + calls, true, "nothing is missing without being counted")

    def test_callbacks_in_lock(self):
        outcome = self.workload("threads", 100, program="fault callbacks_in_lock;fault drop 50", timeout=120)
        recorded, true = self.operations(outcome)
        self.assertEqual(recorded + outcome.lost()[DROPPED], true)

    def test_no_worker(self):
        outcome = self.workload("basic", 20, program="worker 0")
        self.assert_operations(outcome)

    def test_wrapping_correlation(self):
        outcome = self.workload("basic", 5, program="first_correlation 4294967290")
        self.assert_operations(outcome)

    def test_sticky_error(self):
        """After an illegal address every call fails: what ran before is there."""
        outcome = self.workload("basic", 50, program="fault sticky 20", code=1)
        self.assert_operations(outcome)
        self.assertIn(-700, {e["result"] for e in outcome.of("cuda_call")})


def recorded_ids(outcome):
    return sorted((e["pid"], e["correlation"], e["queue"]) for e in outcome.of("gpu_kernel"))


if __name__ == "__main__":
    main()
