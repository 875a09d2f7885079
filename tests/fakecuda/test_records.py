#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the doubles record is what they executed, in the layouts of every version of CUPTI."""
import collections

from harness import ABIS, TIME_NS, DoubleTest, main


class RecordsTest(DoubleTest):
    def check_operations(self, outcome):
        """Every kernel, copy and set is recorded once, with its ids, and where it truly was."""
        by_correlation = {}
        for what, record in (("kernel", "kernel"), ("copy", "copy"), ("set", "set")):
            true, seen = outcome.true(what), outcome.recorded(record)
            self.assertEqual(len(true), len(seen), what)
            self.assertGreater(len(true), 0, what)
            by_correlation = {t["correlation"]: t for t in true}
            self.assertEqual(len(by_correlation), len(true))
            pairs = [(r, by_correlation[r["correlationId"]]) for r in seen]
            for r, t in pairs:
                self.assertEqual((r["deviceId"], r["contextId"], r["streamId"]), (t["device"], t["context"], t["stream"]))
                if what == "kernel":
                    self.assertEqual((r["name"], r["gridX"], r["blockX"]), (t["name"], t["grid"][0], t["block"][0]))
                else:
                    self.assertEqual(r["bytes"], t["bytes"])
                if what == "copy":
                    self.assertEqual((r["copyKind"], r["srcKind"], r["dstKind"]),
                                     (t["copy_kind"], t["source_kind"], t["target_kind"]))
            self.assert_times_true(pairs)

    def check_calls(self, outcome):
        true = {t["correlation"]: t for t in outcome.true("api")}
        seen = outcome.recorded("runtime")
        self.assertEqual(len(true), len(seen))
        for r in seen:
            t = true[r["correlationId"]]
            self.assertEqual((r["cbid"], r["threadId"], r["returnValue"]), (t["cbid"], t["tid"], t["result"]))
            self.assertTrue(t["start_ns"] <= r["start"] <= r["end"] <= t["end_ns"], (r, t))

    def test_all_versions(self):
        """The same program in the layouts of each version that came with the three majors."""
        for major, (_, _, versions) in ABIS.items():
            for version in versions:
                with self.subTest(cupti=version):
                    outcome = self.assert_ran(self.workload("basic", 5, major=major, version=version))
                    self.assertEqual(outcome.records[0]["version"], version)
                    self.check_operations(outcome)
                    self.check_calls(outcome)
                    self.assertEqual({r["end"] for r in outcome.recorded("buffer")}, {12})
                    self.assertEqual(len(outcome.recorded("memory")), 6 if version >= 15 else 0)
                    self.assertEqual([r["dropped"] for r in outcome.recorded("end")], [0])
                    self.assertEqual("isDeviceLaunched" in outcome.recorded("kernel")[0], version >= 130000)

    def test_threads(self):
        """Eight threads on their own streams and their own default streams, buffers shared and one for each thread."""
        for major in ABIS:
            with self.subTest(major=major):
                outcome = self.assert_ran(self.workload("threads", 200, major=major, CLIENT_BUFFER="16384"))
                true, seen = outcome.true("kernel"), outcome.recorded("kernel")
                self.assertEqual(len(true), 8 * 200 * 2)
                self.assertEqual(collections.Counter((t["name"], t["stream"], t["correlation"]) for t in true),
                                 collections.Counter((r["name"], r["streamId"], r["correlationId"]) for r in seen))
                self.assertEqual(len({t["stream"] for t in true}), 16)
                self.check_calls(outcome)
                for stream in {r["streamId"] for r in seen}:  # a stream runs one thing after the other
                    ends = sorted((r["start"], r["end"]) for r in seen if r["streamId"] == stream)
                    for (_, end), (start, _) in zip(ends, ends[1:]):
                        self.assertLessEqual(end, start + TIME_NS)

    def test_clock_skew_and_drift(self):
        """The GPU's clock is off by an hour and gains; converted times are true all the same."""
        outcome = self.assert_ran(self.workload("basic", 60, program="clock_skew_ns 3600e9; clock_drift_ppm 300; kernel gemm 500000",
                                                CLIENT_FLUSH_MS="5"))
        self.check_operations(outcome)

    def test_realtime(self):
        """Without a registered clock records are in CLOCK_REALTIME."""
        outcome = self.assert_ran(self.workload("basic", 1, CLIENT_OPTIONS="realtime"))
        record, truth = outcome.recorded("kernel")[0], outcome.true("kernel")[0]
        self.assertGreater(record["start"], 10**18)
        self.assertLess(abs((record["end"] - record["start"]) - (truth["end_ns"] - truth["start_ns"])), TIME_NS)

    def test_clock_of_another_rate(self):
        """A registered clock need not count nanoseconds: profilers register the TSC."""
        outcome = self.assert_ran(self.workload("basic", 1, CLIENT_OPTIONS="fast_clock"))
        for record, truth in zip(outcome.recorded("kernel"), outcome.true("kernel")):
            self.assertLess(abs(record["start"] - 3 * truth["start_ns"]), 30000)

    def test_graph(self):
        """A graph is one record per node, or one of the whole when GRAPH_TRACE is enabled."""
        nodes = self.assert_ran(self.workload("graph", 4))
        self.assertEqual(len(nodes.recorded("kernel")), 8)
        self.assertEqual(len(nodes.recorded("set")), 4)
        self.assertTrue(all(r["graphId"] and r["graphNodeId"] for r in nodes.recorded("kernel")))
        launches = [r["correlationId"] for r in nodes.recorded("runtime") if r["cbid"] == 311]
        self.assertEqual(sorted(launches * 2), sorted(r["correlationId"] for r in nodes.recorded("kernel")))
        whole = self.assert_ran(self.workload("graph", 4, CLIENT_KINDS="5,10,2,51"))
        self.assertEqual(len(whole.recorded("kernel")) + len(whole.recorded("set")), 0)
        graphs, true = whole.recorded("graph"), {t["correlation"]: t for t in whole.true("graph")}
        self.assertEqual(len(graphs), 4)
        self.assert_times_true([(r, true[r["correlationId"]]) for r in graphs])

    def test_pools(self):
        outcome = self.assert_ran(self.workload("pool", 3))
        pools = outcome.recorded("pool")
        self.assertEqual([r["memoryPoolOperationType"] for r in pools], [1, 3, 2])
        of_pool = [r for r in outcome.recorded("memory") if r["poolType"]]
        self.assertEqual(len(of_pool), 12)
        self.assertTrue(all(r["isAsync"] and r["poolAddress"] and r["poolSize"] % (2 << 20) == 0 for r in of_pool))
        managed = [r for r in outcome.recorded("memory") if r["memoryKind"] == 5]
        self.assertEqual([(r["memoryOperationType"], r["bytes"]) for r in managed], [(1, 65536), (2, 65536)])

    def test_devices(self):
        outcome = self.assert_ran(self.workload("devices", program="device Alpha 1;device Beta;kernel gemm 100000"))
        self.assertEqual({r["deviceId"] for r in outcome.recorded("kernel")}, {0, 1})
        self.assertEqual({(r["id"], r["name"]) for r in outcome.recorded("device")}, {(0, "Alpha 1"), (1, "Beta")})
        copy, = outcome.recorded("peer_copy")
        self.assertEqual((copy["srcDeviceId"], copy["dstDeviceId"], copy["bytes"], copy["copyKind"]), (1, 0, 65536, 10))

    def test_waits(self):
        """Who waited for which stream and event, and queries that found them busy. The work takes a second, in which the host asks
        twice: nobody keeps it from a CPU for that long."""
        outcome = self.assert_ran(self.workload("unready", program="kernel gemm 1e9"))
        first, second, third, fourth, ms = outcome.out.split()
        self.assertEqual([first, second, third, fourth], ["600", "600", "0", "0"])
        self.assertGreater(float(ms), 900)  # more where the host was held up between the two events, as on a real GPU
        waits = outcome.recorded("wait")
        self.assertEqual([(w["type"], w["returnValue"]) for w in waits], [(3, 600), (1, 600), (1, 0)])
        self.assertGreater(waits[2]["end"] - waits[2]["start"], 0)

    def test_waits_without_queries(self):
        """cuptiActivityEnableAllSyncRecords(0), which only 13 has, leaves out the queries that found their work busy."""
        outcome = self.assert_ran(self.workload("unready", program="kernel gemm 1e9", CLIENT_OPTIONS="no_unready"))
        self.assertEqual([(w["type"], w["returnValue"]) for w in outcome.recorded("wait")], [(1, 0)])
        older = self.assert_ran(self.workload("unready", major=12, CLIENT_OPTIONS="no_unready"))
        self.assertEqual(older.result("unready"), -1)

    def test_free_waits(self):
        """cudaFree returns when the device is idle; freeing on a stream does not wait."""
        outcome = self.assert_ran(self.workload("pool", 2, program="kernel tiny 4e8"))
        calls = {t["name"]: t for t in outcome.true("api")}
        last = max(t["end_ns"] for t in outcome.true("kernel"))
        self.assertGreaterEqual(calls["cudaFree"]["end_ns"], last)
        self.assertLess(min(t["end_ns"] for t in outcome.true("api") if t["name"] == "cudaFreeAsync"), last)

    def test_streams(self):
        """Each stream is announced once."""
        outcome = self.assert_ran(self.workload("threads", 3))
        ids = [r["streamId"] for r in outcome.recorded("stream")]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertLessEqual({k["streamId"] for k in outcome.recorded("kernel")}, set(ids))

    def test_overhead(self):
        """The first launch of a module and of a function is paid and explained."""
        outcome = self.assert_ran(self.workload("basic", 3, program="module_load_ns 2e6; lazy_load_ns 5e5"))
        kinds = [r["overheadKind"] >> 16 for r in outcome.recorded("overhead")]
        self.assertEqual(kinds, [4, 5, 5, 5])
        self.assertGreaterEqual(outcome.recorded("overhead")[0]["end"] - outcome.recorded("overhead")[0]["start"], 2e6)
        self.assertTrue(all(r["correlationId"] for r in outcome.recorded("overhead")))

    def test_callbacks(self):
        outcome = self.assert_ran(self.workload("basic", 1, CLIENT_OPTIONS="callbacks v2"))
        callbacks = outcome.recorded("callback")
        self.assertEqual(len(callbacks), 2 * len(outcome.true("api")))
        self.assertTrue(all(r["kept"] == 1 for r in callbacks))
        names = {(r["name"], r["full_name"]) for r in callbacks}
        self.assertIn(("cudaLaunchKernel", "cudaLaunchKernel_v7000"), names)

    def test_single_calls(self):
        """cuptiActivityEnableRuntimeApi: one call alone, or all but one; unknown before 12.5."""
        only = self.assert_ran(self.workload("basic", 1, CLIENT_KINDS="10", CLIENT_CALLS="211"))
        self.assertEqual({r["cbid"] for r in only.recorded("runtime")}, {211})
        self.assertTrue(all(r["correlationId"] for r in only.recorded("kernel")))
        rest = self.assert_ran(self.workload("basic", 1, CLIENT_CALLS="-211"))
        self.assertNotIn(211, {r["cbid"] for r in rest.recorded("runtime")})
        old = self.assert_ran(self.workload("basic", 1, major=12, version=20, CLIENT_CALLS="-211"))
        self.assertEqual(old.result("call"), 27)
        missing = self.assert_ran(self.workload("basic", 1, major=11, CLIENT_CALLS="-211"))
        self.assertEqual(missing.result("call"), -1)

    def test_correlation_needs_calls(self):
        outcome = self.assert_ran(self.workload("basic", 1, CLIENT_KINDS="10,1"))
        self.assertEqual({r["correlationId"] for r in outcome.recorded("kernel")}, {0})

    def test_external_correlation(self):
        outcome = self.assert_ran(self.workload("basic", 1, CLIENT_OPTIONS="external"))
        external = outcome.recorded("external")
        self.assertEqual({(r["externalKind"], r["externalId"]) for r in external}, {(3, 4242)})
        self.assertEqual([r["correlationId"] for r in external], [r["correlationId"] for r in outcome.recorded("runtime")])

    def test_fork_before(self):
        """A child forked before CUDA was used has a life of its own."""
        outcome = self.assert_ran(self.workload("fork_before"))
        self.assertEqual(len({t["pid"] for t in outcome.true("process")}), 2)
        self.assertEqual(len(outcome.recorded("kernel")), 2)


if __name__ == "__main__":
    main()
