#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every fault of the doubles ends in a truthful report: it has all that the GPU did, or it says that it has not, and why.

Which faults there are is read from the doubles' own list: one that is added is tried here without being named.
"""
import collections
import json
import os
import re
import subprocess

from cupti_case import BUILD, DOUBLES, OFF_NS, YIELDED, CuptiCase, main

PROGRAM_DEF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fakecuda", "engine", "program.def")
TORCH = os.path.join(os.path.dirname(PROGRAM_DEF), "..", "mini_torch.py")
ARGUMENTS = {"drop": 5, "zero_time": 5, "reversed_time": 5, "unknown_kind": 3, "long_record": 16, "small_buffers": 50, "wild_record": 1,
             "null_name": 2, "hostile_name": 2, "slow_flush": 20, "enable": 35, "sticky": 20, "init_result": 100}

# Uses a GPU, computes for half a second, and tells its CPU time at the end.
SPIN = """
import ctypes, json, os, time
cudart, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
assert cudart.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 20)) == 0
for _ in range(20):
    assert cudart.cudaMemset(memory, 1, ctypes.c_size_t(1 << 20)) == 0
begin = time.process_time()
while time.process_time() - begin < 0.5:
    pass
assert cudart.cudaDeviceSynchronize() == 0
print(json.dumps({"cpu_s": time.process_time(), "threads": len(os.listdir("/proc/self/task"))}), flush=True)
"""


def faults():
    with open(PROGRAM_DEF, encoding="utf-8") as file:
        return re.findall(r"^FAULT\((\w+)", file.read(), re.MULTILINE)


class ReportTest(CuptiCase):
    def report(self, case, program=""):
        """(what the GPU truly did, how often; the gpu object of the report)"""
        outcome = self.run_program([f"{DOUBLES}/workload_13", case, "20"], program)
        return len(outcome.true("kernel", "copy", "set")), self.report_of(outcome)["gpu"]

    def report_of(self, outcome):
        """The only stage of the report."""
        done = subprocess.run([f"{BUILD}/proftrace", "report", f"{outcome.folder}/trace/latest", "--format", "json"],
                              capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["stages"][0]

    def assert_truthful(self, true, gpu):
        recorded = sum(device[key] for device in gpu["devices"] for key in ("kernels_calls", "copies_calls"))
        self.assertLessEqual(len(gpu["devices"]), 1, "there is one GPU")
        self.assertLessEqual(recorded, true)
        if recorded < true:
            self.assertTrue(gpu["reason"], "it says why")
            self.assertTrue(gpu["completeness_percent"] is None or gpu["completeness_percent"] < 100)
        elif gpu["completeness_percent"] == 100:
            self.assertIsNone(gpu["reason"])

    def assert_figures(self, outcome, gpu):
        """Times and bytes are those of the GPU; where records are missing, no more than those."""
        true = outcome.true("kernel", "copy", "set")
        recorded = sum(device[key] for device in gpu["devices"] for key in ("kernels_calls", "copies_calls"))
        for key, what in (("kernels", ("kernel",)), ("copies", ("copy", "set"))):
            of_kind = [t for t in true if t["what"] in what]
            rows = [row for device in gpu["devices"] for row in device[key]]
            true_s, found_s = sum(t["end_ns"] - t["start_ns"] for t in of_kind) / 1e9, sum(row["total_s"] for row in rows)
            self.assertLessEqual(found_s, true_s + len(of_kind) * OFF_NS / 1e9, key)
            if recorded == len(true):
                self.assertAlmostEqual(found_s, true_s, delta=len(of_kind) * OFF_NS / 1e9, msg=key)
            if key == "copies":
                true_bytes, found_bytes = sum(t["bytes"] for t in of_kind), sum(row["bytes"] for row in rows)
                self.assertLessEqual(found_bytes, true_bytes)
                if recorded == len(true):
                    self.assertEqual(found_bytes, true_bytes)
        self.assert_truthful(len(true), gpu)

    def test_every_fault(self):
        self.assertGreater(len(faults()), 15)
        for fault in faults():
            with self.subTest(fault):
                outcome = self.run_program([f"{DOUBLES}/workload_13", "basic", "20"], f"fault {fault} {ARGUMENTS.get(fault, '')}")
                self.assert_figures(outcome, self.report_of(outcome)["gpu"])

    def test_faults_of_graphs_and_trainings(self):
        """The same of the nodes of graphs, and of a training in Python with workers."""
        for fault in ("drop 5", "zero_time 7", "shuffle", "unknown_kind 3", "subscribe39"):
            with self.subTest(fault):
                outcome = self.run_program([f"{DOUBLES}/workload_13", "graph", "20"], f"fault {fault}", PROFTRACE_CUDA_GRAPH="node")
                self.assert_figures(outcome, self.report_of(outcome)["gpu"])
                outcome = self.run_program(["/usr/bin/python3", TORCH, "--steps", "4", "--workers", "2"], f"fault {fault}",
                                           PROFTRACE_BUILD=os.path.abspath(BUILD))
                self.assertEqual(outcome.code, 0, outcome.err)
                self.assertGreater(len(outcome.true("kernel")), 50)
                self.assert_figures(outcome, self.report_of(outcome)["gpu"])

    def test_cpu_time(self):
        """The slots in which records of devices lie are no threads: the CPU time is the kernel's count, also with a profile."""
        program = ["/usr/bin/python3", "-c", SPIN]
        for how in ([], [f"{BUILD}/proftrace", "run", "--no-report", "-o", "spin", "--"]):
            outcome = self.run_program([*how, *program], **({"LD_PRELOAD": ""} if how else {}))
            self.assertEqual(outcome.code, 0, outcome.err)
            truth = json.loads(outcome.out.splitlines()[0])
            folder = f"{outcome.folder}/spin" if how else f"{outcome.folder}/trace/latest"
            done = subprocess.run([f"{BUILD}/proftrace", "report", folder, "--format", "json"], capture_output=True, text=True, check=True)
            stage = json.loads(done.stdout)["stages"][0]
            self.assertTrue(stage["gpu"]["devices"], "it used a GPU")
            self.assertAlmostEqual(stage["cpu_s"], truth["cpu_s"], delta=0.1 + 0.1 * truth["cpu_s"])
            done = subprocess.run([f"{BUILD}/proftrace", "info", folder, "--json"], capture_output=True, text=True, check=True)
            self.assertEqual(max(p["threads"] for p in json.loads(done.stdout)["processes"]), truth["threads"])

    def test_pools(self):
        """The default pool and one of the program's own, 20 allocations each; memory over time has all that was on the device."""
        outcome = self.run_program([f"{DOUBLES}/workload_13", "pool", "20"])
        gpu = self.report_of(outcome)["gpu"]
        own, default = gpu["pools"]
        self.assertEqual((own["allocations"], own["releases"], own["trims"]), (20, 20, 1))
        self.assertEqual((default["allocations"], default["releases"], default["trims"]), (20, 20, 0))
        self.assertEqual((own["peak_bytes"], default["peak_bytes"]), (5 << 20, 1 << 20))
        self.assertEqual({t["bytes"] for t in outcome.true("pool")}, {0}, "it is empty when it is made, trimmed and destroyed")
        sizes = collections.defaultdict(set)
        for true in outcome.true("alloc"):
            sizes[true["pool"] and f"{true['pool']:#014x}"].add(true["pool_bytes"])
        for pool in own, default:
            self.assertEqual({pool["size_bytes"]}, sizes[pool["pool"]])
        device, = gpu["memory_over_time"]
        self.assertEqual(max(point["pools_bytes"] for point in device["points"]), own["size_bytes"] + default["size_bytes"])
        self.assertEqual(max(point["pools_used_bytes"] for point in device["points"]), own["peak_bytes"])
        for key, pools in (("allocations", 40), ("releases", 40), ("allocated_bytes", 20 * (6 << 20))):
            self.assertEqual(sum(point[key] for point in device["points"]), pools, key)

    def test_program_profiles_itself(self):
        """What ran while the program had CUPTI was launched through wrappers: the report says how much is missing, and from when to when."""
        for case in ("profiler_subscribes", "profiler_registers"):
            with self.subTest(case):
                outcome = self.run_program([f"{DOUBLES}/cupti_program", case])
                gpu = self.report_of(outcome)["gpu"]
                true, recorded = len(outcome.true("kernel", "copy", "set")), sum(d["kernels_calls"] + d["copies_calls"] for d in gpu["devices"])
                self.assertEqual((true, recorded), (100, 60))
                self.assertAlmostEqual(gpu["completeness_percent"], 100 * recorded / true, delta=0.01)
                states = [(e["start_ns"] / 1e9, e["state"]) for e in outcome.of("gpu_tracing")]
                away = [(at, until - at) for (at, state), (until, _) in zip(states, states[1:]) if state == YIELDED]
                self.assertEqual(len(gpu["not_seen"]), len(away))
                for row, (at_s, seconds) in zip(gpu["not_seen"], away):
                    self.assertAlmostEqual(row["at_s"], at_s, delta=1e-6)
                    self.assertAlmostEqual(row["seconds"], seconds, delta=1e-6)
                self.assertAlmostEqual(gpu["not_seen_s"], sum(row["seconds"] for row in gpu["not_seen"]), delta=1e-6)

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
