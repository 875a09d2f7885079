#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What CUPTI told is what the GPU did: kernels, copies, sets, calls, graphs, memory, waits, in the layouts of CUDA 11, 12 and 13."""
import collections
import json
import shutil

from cupti_case import CUPTI, ENDED, LIBRARY, VERSIONS, CuptiCase, main, true_kernels


class RecordTest(CuptiCase):
    def test_all_versions(self):
        """Every operation once, none twice, with its queue, its bytes and its correlation, in every layout."""
        for major, versions in VERSIONS.items():
            for version in versions:
                with self.subTest(major=major, version=version):
                    outcome = self.workload("basic", 5, major=major, version=version)
                    self.assertEqual(outcome.states(), [CUPTI, ENDED])
                    self.assert_operations(outcome)
                    self.assert_calls(outcome)
                    self.assertEqual(outcome.lost(), {})

    def test_eight_threads(self):
        for major in VERSIONS:
            with self.subTest(major=major):
                outcome = self.workload("threads", 300, major=major)
                self.assertEqual(len(true_kernels(outcome)), 8 * 300 * 2)
                self.assert_operations(outcome)
                self.assert_calls(outcome)
                self.assertEqual(outcome.lost(), {})

    def test_forked_workers(self):
        """Both sides of a fork before CUDA is used have a GPU; a child of a process that uses it does not hang or speak for it."""
        outcome = self.workload("fork_before")
        self.assertEqual(sorted(outcome.states()), [CUPTI, CUPTI, ENDED, ENDED])
        self.assertEqual(len({e["pid"] for e in outcome.of("gpu_kernel")}), 2)
        self.assert_operations(outcome)
        outcome = self.workload("fork_after")
        self.assertEqual(outcome.states(), [CUPTI, ENDED])
        self.assert_operations(outcome)
        outcome = self.workload("fork_exit")
        self.assertEqual(outcome.out, "0\n", "the child's exit handlers call nothing of CUPTI's")

    def test_graphs(self):
        outcome = self.workload("graph", 20)
        launches = outcome.true("graph")
        self.assertEqual(len(launches), 20)
        self.assertEqual(sorted((e["correlation"], e["graph"]) for e in outcome.of("gpu_graph")),
                         sorted((t["correlation"], t["graph"]) for t in launches))
        self.assertEqual((outcome.of("gpu_kernel"), outcome.of("gpu_graph_node")), ([], []))
        outcome = self.workload("graph", 20, PROFTRACE_CUDA_GRAPH="node")
        self.assertEqual(outcome.of("gpu_graph"), [])
        self.assert_operations(outcome)
        nodes = collections.Counter((e["correlation"], e["node"]) for e in outcome.of("gpu_graph_node"))
        self.assertEqual(nodes, collections.Counter((t["correlation"], t["node"]) for t in outcome.true("kernel", "set")))

    def test_memory(self):
        outcome = self.workload("pool", 10)
        is_release = {"alloc": 0, "release": 1}
        true = collections.Counter((t["address"], t["bytes"], is_release.get(t["what"], 1))
                                   for t in outcome.true("alloc", "free", "release"))
        recorded = collections.Counter((e["addr"], e["bytes"], e["is_release"]) for e in outcome.of("gpu_memory"))
        self.assertEqual(recorded, true)
        pools = outcome.of("gpu_memory_pool")
        self.assertEqual([e["operation"] for e in pools if e["operation"]], [t["operation"] for t in outcome.true("pool")])
        told = collections.Counter((e["place"].split("/")[2], e["bytes"]) for e in pools if not e["operation"])
        grown = {(f"{t['pool']:#014x}", t["pool_bytes"]) for t in outcome.true("alloc") if t["pool"]}
        self.assertEqual(told, collections.Counter(grown), "once for each size that a pool has had")
        self.assertTrue(all(e["place"].count("/") >= 1 for e in outcome.of("gpu_memory")))

    def test_waits_and_loading(self):
        outcome = self.workload("basic", 5)
        self.assertEqual(collections.Counter((t["type"], t["correlation"]) for t in outcome.true("wait")),
                         collections.Counter((e["kind"], e["correlation"]) for e in outcome.of("gpu_sync")))
        self.assertTrue(all(e["queue"].startswith("0/1/") for e in outcome.of("gpu_sync")), outcome.of("gpu_sync")[:3])
        self.assertEqual(collections.Counter((t["kind"] << 16, t["correlation"], t["tid"]) for t in outcome.true("overhead")),
                         collections.Counter((e["kind"], e["correlation"], e["field_tid"]) for e in outcome.of("gpu_overhead")
                                             if e["kind"] >> 16 in (4, 5)))

    def test_event_waits_name_the_record(self):
        """Which cudaEventRecord a wait was for; CUPTI tells since CUDA 12.8, before it is unknown."""
        outcome = self.workload("basic", 8)
        records = sorted(e["correlation"] for e in outcome.of("cuda_call") if e["name"] == "cudaEventRecord")
        waits = sorted((e["correlation"], e["event_correlation"]) for e in outcome.of("gpu_sync") if e["kind"] in (1, 2))
        self.assertEqual(len(waits), 16)
        for correlation, event_correlation in waits:
            self.assertEqual(event_correlation, max(r for r in records if r < correlation))
        places = outcome.of("gpu_event_record")
        self.assertEqual(sorted((e["correlation"], e["event_correlation"]) for e in places), waits)
        streams = {t["correlation"]: t["stream"] for t in outcome.true("event_record")}
        self.assertEqual([e["queue"] for e in places], [f"0/1/{streams[e['event_correlation']]}" for e in places])
        outcome = self.workload("basic", 2, major=12, version=24)
        self.assertEqual({e["event_correlation"] for e in outcome.of("gpu_sync")}, {0})

    def test_many_names_and_shapes(self):
        """More queues, shapes and names than the tables hold."""
        outcome = self.workload("threads", 1500)
        self.assert_operations(outcome)

    def test_two_devices(self):
        outcome = self.workload("devices", program="device Fake A;device Fake B")
        self.assertEqual(sorted((e["device"], e["name"]) for e in outcome.of("gpu_device")), [(0, "Fake A"), (1, "Fake B")])
        first = min(e["start_ns"] for e in outcome.events if e["event"] in ("gpu_memory", "gpu_kernel", "gpu_copy"))
        self.assertTrue(all(e["start_ns"] < first for e in outcome.of("gpu_device")), "or readers see a second, nameless GPU")
        self.assertEqual([json.loads(e["properties"])["uuid"] for e in sorted(outcome.of("gpu_device"), key=lambda e: e["device"])],
                         ["GPU-fa000000-0000-0000-0000-000000000000", "GPU-fa000000-0000-0000-0000-000000000001"])
        for event in outcome.of("gpu_device"):  # the texts stay where the event is overwritten
            properties = json.loads(event["properties"])
            self.assertTrue(event["properties"].startswith('{"computeMajor":'))
            self.assertEqual((properties["id"], properties["name"], properties["totalGlobalMem"]),
                             (event["device"], event["name"], event["memory_bytes"]))
        self.assert_operations(outcome)

    def test_instances_of_one_gpu_are_devices_of_their_own(self):
        outcome = self.workload("devices", program="device Fake A;device Fake B;mig 3")
        self.assertEqual([json.loads(e["properties"])["uuid"] for e in sorted(outcome.of("gpu_device"), key=lambda e: e["device"])],
                         ["MIG-fb000000-0000-0000-0000-000000000003", "MIG-fb000000-0000-0000-0000-000000000004"])

    def test_injected_only(self):
        """The library comes by the driver alone, without LD_PRELOAD: what the GPU did is in the trace."""
        outcome = self.workload("basic", 3, LD_PRELOAD="")
        self.assertEqual(outcome.states(), [CUPTI, ENDED])
        self.assert_operations(outcome)

    def test_another_copy_is_injected(self):
        """LD_PRELOAD and CUDA_INJECTION64_PATH name two copies: the one that was first speaks, there is one trace."""
        copy = shutil.copy(LIBRARY, f"{self.root}/copy.so")
        outcome = self.workload("basic", 1, CUDA_INJECTION64_PATH=copy)
        self.assertEqual(len(outcome.processes()), 1)

    def test_classes(self):
        """What a call is for goes with its name, whatever the version adds to the name."""
        classes = {e["name"]: e["class"] for e in self.workload("basic", 1).of("cuda_call")}
        self.assertEqual({name: classes[name] for name in ("cudaLaunchKernel", "cudaMemcpy", "cudaMemcpyAsync", "cudaMemsetAsync",
                                                           "cudaStreamSynchronize", "cudaMalloc", "cudaFree", "cudaEventRecord")},
                         {"cudaLaunchKernel": 1, "cudaMemcpy": 3, "cudaMemcpyAsync": 4, "cudaMemsetAsync": 6,
                          "cudaStreamSynchronize": 7, "cudaMalloc": 8, "cudaFree": 9, "cudaEventRecord": 0})

    def test_pools_are_not_waited_for(self):
        """What is allocated and released in the order of a stream waits for nothing: cudaFree does."""
        classes = {e["name"]: e["class"] for e in self.workload("pool", 1).of("cuda_call")}
        self.assertEqual({name: classes[name] for name in ("cudaMallocAsync", "cudaMallocFromPoolAsync", "cudaMemPoolCreate", "cudaFreeAsync",
                                                           "cudaMemPoolTrimTo", "cudaMemPoolDestroy", "cudaFree")},
                         {"cudaMallocAsync": 12, "cudaMallocFromPoolAsync": 12, "cudaMemPoolCreate": 12, "cudaFreeAsync": 13,
                          "cudaMemPoolTrimTo": 13, "cudaMemPoolDestroy": 13, "cudaFree": 9})

    def test_errors_are_results(self):
        outcome = self.workload("out_of_memory", program="memory_bytes 10485760")
        self.assertEqual([e["result"] for e in outcome.of("cuda_call") if e["name"] == "cudaMalloc"][-1], -2)
        outcome = self.workload("unready", program="kernel_ns 3000000")
        self.assertEqual({e["result"] for e in outcome.of("cuda_call")}, {0}, "not ready is no error")


if __name__ == "__main__":
    main()
