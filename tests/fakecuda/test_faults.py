#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Each planned fault does what it says, so that a survivor has truly survived it."""
import signal
import subprocess
import time

from harness import DoubleTest, main


class FaultTest(DoubleTest):
    def kernels(self, outcome):
        return outcome.recorded("kernel")

    def test_unknown_words_abort(self):
        for word in ("kernle gemm 5", "fault subscribe", "latency_ns", "nonsense 1"):
            with self.subTest(word=word):
                outcome = self.workload("basic", 1, program=word)
                self.assertEqual(outcome.code, -signal.SIGABRT)
                self.assertIn(word, outcome.err)

    def test_no_driver(self):
        outcome = self.workload("basic", 1, program="fault no_driver")
        self.assertEqual(outcome.code, 1)
        self.assertIn("35 cudaErrorInsufficientDriver", outcome.err)
        self.assertEqual(outcome.records, [], "without a driver nothing is injected")

    def test_subscribe_refused(self):
        outcome = self.assert_ran(self.workload("basic", 1, program="fault subscribe39", CLIENT_OPTIONS="v2"))
        self.assertEqual(outcome.result("subscribe"), 39)
        self.assertEqual(outcome.recorded("old")[0]["name"], "Nsight Systems")

    def test_enable_refused(self):
        outcome = self.assert_ran(self.workload("basic", 1, program="fault enable 35"))
        self.assertEqual(outcome.result("enable 10"), 35)
        self.assertEqual(self.kernels(outcome), [])

    def test_planned_errors(self):
        """Any call of any library, after so many, so often."""
        outcome = self.workload("basic", 5, program="error cudaMemcpyAsync 700 3 1")
        self.assertIn("700", outcome.err)
        self.assertEqual(len([t for t in outcome.true("api") if t["name"] == "cudaMemcpyAsync" and not t["result"]]), 3)
        outcome = self.assert_ran(self.workload("basic", 1, program="error cuptiActivityRegisterTimestampCallback 999"))
        self.assertEqual(outcome.result("clock"), 999)

    def test_planned_errors_of_questions(self):
        """Those that only ask, too: the version, names, the walk through a buffer."""
        outcome = self.assert_ran(self.workload("basic", 1, program="error cuptiActivityGetNextRecord 999 5 1"))
        self.assertEqual(outcome.recorded("buffer")[0]["end"], 999)
        outcome = self.assert_ran(self.workload("basic", 1, program="error cuptiGetVersion 15;error cuptiGetCallbackName 1",
                                                CLIENT_OPTIONS="callbacks"))
        self.assertEqual(outcome.recorded("version")[0]["version"], 0)
        self.assertEqual({r["full_name"] for r in outcome.recorded("callback")}, {"?"})

    def test_slow_flush(self):
        begin = time.monotonic()
        self.assert_ran(self.workload("basic", 1, program="fault slow_flush 400"))
        self.assertGreater(time.monotonic() - begin, 0.4)

    def test_finalize_hangs(self):
        with self.assertRaises(subprocess.TimeoutExpired):
            self.workload("basic", 1, program="fault finalize_hang", timeout=1, CLIENT_OPTIONS="finalize")

    def test_first_call_fails(self):
        """cuInit gives the error, and so does every call after it."""
        outcome = self.workload("basic", 1, program="fault init_result 100")
        self.assertEqual((outcome.code, outcome.true("kernel")), (1, []))
        self.assertIn("100 cudaErrorNoDevice", outcome.err)

    def test_dropped(self):
        outcome = self.assert_ran(self.workload("basic", 20, program="fault drop 10"))
        true = len(outcome.true("kernel")) + len(outcome.true("copy")) + len(outcome.true("set"))
        seen = len(self.kernels(outcome)) + len(outcome.recorded("copy")) + len(outcome.recorded("set"))
        dropped = outcome.recorded("end")[0]["dropped"]
        self.assertEqual((seen + dropped, dropped), (true, true // 10))

    def test_bad_times(self):
        outcome = self.assert_ran(self.workload("basic", 20, program="fault zero_time 7; fault reversed_time 11"))
        records = self.kernels(outcome) + outcome.recorded("copy") + outcome.recorded("set")
        self.assertGreater(len([r for r in records if r["start"] == r["end"] == 0]), 10)
        self.assertGreater(len([r for r in records if r["start"] > r["end"]]), 5)

    def test_shuffled(self):
        outcome = self.assert_ran(self.workload("basic", 20, program="fault shuffle"))
        ids = [r["correlationId"] for r in outcome.recorded("runtime")]
        self.assertNotEqual(ids, sorted(ids))
        self.assertEqual(len(self.kernels(outcome)), 60)

    def test_unknown_and_longer_records(self):
        outcome = self.assert_ran(self.workload("basic", 10, program="fault unknown_kind 5; fault long_record 24"))
        self.assertGreater(len(outcome.recorded("unknown")), 10)
        self.assertEqual(len(self.kernels(outcome)), 30)

    def test_cut_records(self):
        outcome = self.assert_ran(self.workload("basic", 10, program="fault wild_record; fault small_buffers 16"))
        whole = self.assert_ran(self.workload("basic", 10))
        lost = len(whole.recorded("runtime")) + len(self.kernels(whole)) - len(outcome.recorded("runtime")) - \
            len(self.kernels(outcome))
        self.assertGreater(lost, 3)

    def test_names(self):
        outcome = self.assert_ran(self.workload("basic", 10, program="fault null_name 3; fault hostile_name 4"))
        names = [r["name"] for r in self.kernels(outcome)]
        self.assertEqual(names.count(None), 10)
        hostile = [n for n in names if n and len(n) == 70000]
        self.assertGreater(len(hostile), 3)
        self.assertTrue(hostile[0].startswith('k"]}\\\n\t\x01\x7f</script>\xff'))

    def test_correlation_wraps(self):
        outcome = self.assert_ran(self.workload("basic", 2, program="first_correlation 4294967290"))
        ids = [r["correlationId"] for r in outcome.recorded("runtime")]
        self.assertIn(4294967295, ids)
        self.assertIn(1, ids)

    def test_small_buffers(self):
        outcome = self.assert_ran(self.workload("basic", 5, program="fault small_buffers 2"))
        self.assertGreater(len(outcome.recorded("buffer")), 50)
        self.assertEqual(len(self.kernels(outcome)), 15)

    def test_no_buffer(self):
        """NULL crashes before 12.9 and drops records from then on."""
        outcome = self.workload("basic", 1, major=12, version=26, CLIENT_OPTIONS="null_buffer")
        self.assertEqual(outcome.code, -signal.SIGABRT)
        self.assertIn("before 12.9", outcome.err)
        outcome = self.assert_ran(self.workload("basic", 1, CLIENT_OPTIONS="null_buffer"))
        self.assertGreater(outcome.recorded("end")[0]["dropped"], 10)

    def test_promised_zeros(self):
        self.assert_ran(self.workload("basic", 1, CLIENT_OPTIONS="zeroed"))
        outcome = self.workload("basic", 1, CLIENT_OPTIONS="dirty")
        self.assertIn("promised zeroed buffers", outcome.err)

    def test_calls_in_buffer_callbacks(self):
        """What deadlocks in CUPTI ends here with the name of the call."""
        outcome = self.workload("basic", 1, CLIENT_OPTIONS="cuda_in_complete")
        self.assertEqual(outcome.code, -signal.SIGABRT)
        self.assertIn("cudaDeviceSynchronize", outcome.err)
        outcome = self.workload("basic", 1, CLIENT_OPTIONS="cupti_in_request")
        self.assertIn("cuptiActivityFlushAll", outcome.err)
        self.assert_ran(self.workload("threads", 50, program="fault callbacks_in_lock"))

    def test_plain_flush_holds_back(self):
        """What has not ended is not delivered; a forced flush gives it without times."""
        plain = self.assert_ran(self.workload("unfinished", program="kernel gemm 1e9", CLIENT_OPTIONS="plain_flush"))
        self.assertEqual(self.kernels(plain), [])
        forced = self.assert_ran(self.workload("unfinished", program="kernel gemm 1e9"))
        self.assertEqual([(r["start"], r["end"]) for r in self.kernels(forced)], [(0, 0)])

    def test_without_worker(self):
        """Buffers wait for a flush; without one all is lost."""
        lost = self.assert_ran(self.workload("basic", 20, program="worker 0", CLIENT_OPTIONS="no_exit_flush", CLIENT_BUFFER="4096"))
        self.assertEqual(self.kernels(lost), [])
        kept = self.assert_ran(self.workload("basic", 20, program="worker 0", CLIENT_BUFFER="4096"))
        self.assertEqual(len(self.kernels(kept)), 60)
        worked = self.assert_ran(self.workload("basic", 200, CLIENT_OPTIONS="no_exit_flush", CLIENT_BUFFER="4096"))
        self.assertGreater(len(self.kernels(worked)), 60)

    def test_forked_child(self):
        """CUDA is gone in a child of a process that used it, and a flush there hangs until it is ended."""
        outcome = self.assert_ran(self.workload("fork_after"))
        self.assertEqual(outcome.out.strip(), "3")
        outcome = self.assert_ran(self.workload("fork_exit", program="fork_hang_ms 200"))
        self.assertEqual(outcome.out.strip(), str(int(signal.SIGABRT)))
        self.assertIn("hangs in a forked child", outcome.err)

    def test_second_clock_corrupts(self):
        outcome = self.assert_ran(self.workload("basic", 2, program="fault reregister", CLIENT_OPTIONS="reregister"))
        first, *rest = sorted(self.kernels(outcome), key=lambda r: -r["start"])
        self.assertGreater(first["start"], rest[0]["start"] + 9 * 10**13)

    def test_finalize(self):
        outcome = self.assert_ran(self.workload("basic", 2, CLIENT_OPTIONS="finalize"))
        self.assertEqual(len(self.kernels(outcome)), 6)

    def test_late_exit_handler(self):
        """Injected libraries whose exit handlers run after the driver's find it gone, with all that they did not flush."""
        outcome = self.assert_ran(self.workload("basic", 1, program="fault late_atexit"))
        self.assertEqual((self.kernels(outcome), outcome.recorded("end")[0]["flushed"]), ([], 15))
        outcome = self.assert_ran(self.workload("basic", 1))
        self.assertEqual(outcome.recorded("end")[0]["flushed"], 0)

    def test_killed(self):
        """The truth survives a kill."""
        outcome = self.workload("killed")
        self.assertEqual(outcome.code, -signal.SIGKILL)
        self.assertEqual(len(outcome.true("kernel")), 1)

    def test_sticky_error(self):
        outcome = self.workload("basic", 10, program="fault sticky 4")
        self.assertIn("700 cudaErrorIllegalAddress", outcome.err)


if __name__ == "__main__":
    main()
