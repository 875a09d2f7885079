#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The virtual machine behaves like one: order, blocking, limits, engines."""

from harness import DoubleTest, main


class MachineTest(DoubleTest):
    def run_case(self, *arguments, program=""):
        return self.assert_ran(self.workload(*arguments, program=program, client=False))

    def test_durations(self):
        """By name, by number of blocks, by bytes and bandwidth."""
        outcome = self.run_case("basic", 1, program="kernel gemm 10000 100; kernel *reduce* 7000; kernel_ns 1234;"
                                                    "h2d_gbps 10; pageable_gbps 2; copy_latency_ns 0; set_gbps 1")
        length = {t["name"]: t["end_ns"] - t["start_ns"] for t in outcome.true("kernel")}
        self.assertEqual(length, {"gemm": 16400, "_Z6reducePfi": 7000, "tiny": 1234})
        copies = [(t["copy_kind"], t["bytes"], t["end_ns"] - t["start_ns"]) for t in outcome.true("copy")]
        self.assertEqual(copies[:2], [(1, 1 << 20, 524288), (1, 1 << 19, 52428)])
        self.assertEqual([t["end_ns"] - t["start_ns"] for t in outcome.true("set")], [4096])

    def test_blocking(self):
        """A synchronisation returns after the work, a synchronous copy after its end, a launch at once."""
        outcome = self.run_case("basic", 3, program="kernel gemm 5e6")
        kernels = {t["stream"]: t for t in outcome.true("kernel")}
        for wait in outcome.true("wait"):
            if wait["type"] == 3:
                before = [t["end_ns"] for t in outcome.true("kernel")
                          if t["stream"] == wait["stream"] and t["start_ns"] < wait["end_ns"] and t["correlation"] < wait["correlation"]]
                self.assertGreaterEqual(wait["end_ns"], max(before))
        calls = {t["correlation"]: t for t in outcome.true("api")}
        for copy in outcome.true("copy"):
            if calls[copy["correlation"]]["name"] == "cudaMemcpy":
                self.assertGreaterEqual(calls[copy["correlation"]]["end_ns"], copy["end_ns"])
        self.assertTrue(kernels)

    def test_queue_depth(self):
        """The launcher waits when the queue is full, and CUPTI says so. The work is long, so that the host is ahead of it on any machine."""
        outcome = self.assert_ran(self.workload("queue", 40, program="queue_depth 16; kernel gemm 3e7"))
        self.assertGreater(float(outcome.out), 4)
        full = [r for r in outcome.recorded("overhead") if r["overheadKind"] >> 16 == 6]
        self.assertGreater(len(full), 5)
        free = self.run_case("queue", 40, program="kernel gemm 3e7")
        starts = sorted(t["start_ns"] for t in free.true("kernel"))
        launched = [t["end_ns"] for t in free.true("api") if t["name"] == "cudaLaunchKernel"]
        self.assertLess(max(launched), starts[30])

    def test_memory_limit(self):
        outcome = self.run_case("out_of_memory", program="memory_bytes 10485760")
        self.assertEqual(outcome.out.split(), ["10", "2", "0", "10485760"])

    def test_host_functions(self):
        """They are called in the stream's order, and a synchronisation returns after them."""
        self.assertEqual(self.run_case("host_functions", program="kernel gemm 1e6").out.split(), ["1", "2", "3"])

    def test_default_stream(self):
        """The legacy default stream waits for blocking streams; a stream's operations never overlap."""
        for _ in range(3):  # other programs may keep its eight threads from a CPU
            operations = self.run_case("threads", 20, program="kernel gemm 2e7").true("kernel")
            for stream in {t["stream"] for t in operations}:
                spans = sorted((t["start_ns"], t["end_ns"]) for t in operations if t["stream"] == stream)
                for (_, end), (start, _) in zip(spans, spans[1:]):
                    self.assertLessEqual(end, start)
            whole = max(t["end_ns"] for t in operations) - min(t["start_ns"] for t in operations)
            if whole < 8 * 20 * 2e7 / 2:
                break
        self.assertLess(whole, 8 * 20 * 2e7 / 2, "eight streams run side by side")

    def test_copy_engines(self):
        """Copies of one direction go one after the other."""
        outcome = self.run_case("basic", 20)
        copies = sorted((t["start_ns"], t["end_ns"]) for t in outcome.true("copy") if t["copy_kind"] == 1)
        for (_, end), (start, _) in zip(copies, copies[1:]):
            self.assertLessEqual(end, start)


if __name__ == "__main__":
    main()
