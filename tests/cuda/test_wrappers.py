#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Calls of a dynamically linked CUDA runtime where CUPTI is not there: recorded as the doubles executed them, and the program
cannot tell."""
import collections
import os
import re
import subprocess
import unittest

from cupti_case import BUILD, DOUBLES, LIBRARY, OFF, WRAPPED, CuptiCase, main

HOST = os.path.join(BUILD, "cuda", "wrapper_host")
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TAKEN = "fault subscribe39"  # another tool has CUPTI
SYNC, LOAD = 7, 10  # of enum pt_cuda_class
KINDS = ("cuda_call", "cuda_launch", "cuda_transfer", "cuda_memory")
ASKED_ONLY = {"cudaEventQuery", "cudaStreamQuery", "cudaGetDeviceCount", "cudaSetDevice", "cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority"}
# enum cudaMemcpyKind by what a witness says of a copy, and how a transfer stores it
HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 0x100, 0x200, 0x800


def wrapped_names():
    """Names and twins as wrappers.def has them: name of the symbol -> name of the row."""
    with open(os.path.join(ROOT, "preload/cuda/wrappers.def"), encoding="utf-8") as table:
        rows = re.findall(r"^WRAP(?:_WAIT)?\((\w+), (\w+)", table.read(), re.M)
    names = {name: name for name, _ in rows}
    names.update({f"{name}_{twin}": name for name, twin in rows if twin != "none"})
    return names


WRAPPED_NAMES = wrapped_names()


def true_calls(outcome):
    """What the doubles executed of what we wrap, by thread."""
    return [t for t in outcome.true("api") if t["domain"] == 2 and WRAPPED_NAMES.get(t["name"], "cudaSetDevice") not in ASKED_ONLY]


def recorded(outcome):
    return [e for kind in KINDS for e in outcome.of(kind)]


class WrapperCase(CuptiCase):
    def environment(self, folder, program="", **more):
        env = super().environment(folder, program, **more)
        if env.get("CUDA_INJECTION64_PATH") is None or env["CUDA_INJECTION64_PATH"] == "unset":
            del env["CUDA_INJECTION64_PATH"]
        if env["LD_PRELOAD"] == "":
            for name in ("LD_PRELOAD", "CUDA_INJECTION64_PATH"):
                env.pop(name, None)
        return env

    def both(self, *command, program=TAKEN, **environment):
        """The run with us; without us its output and its end must be the same."""
        command = [HOST, *command] if not command[0].startswith("/") else list(command)
        without = self.run_program(command, program, LD_PRELOAD="", **environment)
        with_us = self.run_program(command, program, **environment)
        self.assertEqual((with_us.out, with_us.err, with_us.code), (without.out, without.err, without.code))
        return with_us

    def assert_all_calls(self, outcome):
        true = collections.Counter((t["pid"], t["tid"]) for t in true_calls(outcome))
        self.assertEqual(collections.Counter((e["pid"], e["tid"]) for e in recorded(outcome)), true)
        self.assertTrue(true)


class Wrappers(WrapperCase):
    def test_launches_with_names_and_configurations(self):
        outcome = self.both("launches")
        self.assert_all_calls(outcome)
        true = [(t["tid"], t["name"], ",".join(map(str, t["grid"])), ",".join(map(str, t["block"]))) for t in outcome.true("kernel")]
        seen = [(e["tid"], e["name"], *e["config"].split()[:2]) for e in outcome.of("cuda_launch")]
        self.assertEqual(seen, true)
        self.assertEqual([e["config"].split("+")[1] for e in outcome.of("cuda_launch")],
                         [str(b) for b in (128, 128, 0, 0, 512, 512, 64, 64)])
        self.assertEqual(collections.Counter(e["name"] for e in outcome.of("cuda_call")),
                         {"cudaLaunchHostFunc": 2, "cudaDeviceSynchronize": 1})

    def test_copies_and_sets(self):
        outcome = self.both("copies")
        self.assert_all_calls(outcome)
        names = [t["name"] for t in true_calls(outcome) if t["name"].startswith(("cudaMemcpy", "cudaMemset"))]
        transfers = outcome.of("cuda_transfer")
        self.assertEqual([e["name"] for e in transfers], [WRAPPED_NAMES[name] for name in names])
        true = [t["bytes"] for t in sorted(outcome.true("copy", "set"), key=lambda t: t["correlation"])]
        flat = [i for i, e in enumerate(transfers) if not e["name"].startswith("cudaMemset2D")]  # the double sets the gaps, too
        self.assertEqual([transfers[i]["bytes"] for i in flat], [true[i] for i in flat])
        self.assertEqual([e["bytes"] for e in transfers if e["name"].startswith("cudaMemset2D")], [1000, 1000, 1100, 1100])
        self.assertEqual([e["kind"] & 1 for e in transfers], [int("Async" in name) for name in names])
        kinds = collections.Counter((e["name"], e["kind"] & ~1) for e in transfers)
        self.assertEqual(kinds["cudaMemcpy", HOST_TO_DEVICE], 2)
        self.assertEqual([kinds["cudaMemcpyAsync", kind] for kind in (DEVICE_TO_HOST, DEVICE_TO_DEVICE, 0)], [2, 2, 2])

    def test_memory(self):
        outcome = self.both("memory")
        self.assert_all_calls(outcome)
        rows = [(e["kind"], e["size_kib"], e["addr"]) for e in outcome.of("cuda_memory")]
        held = {}
        for kind, kib, address in rows:
            if not kind & 1:
                held[address] = kind | 1
            elif address:
                released = held.pop(address)
                # cudaFree takes managed memory, too, and does not know
                self.assertIn(kind, (released, 0x301 if released == 0x501 else released))
        self.assertEqual(held, {})
        self.assertEqual([(kind, kib) for kind, kib, _ in rows if not kind & 1],
                         [(0x300, 1), (0x500, 5), (0x200, 4), (0x200, 5), (0x200, 8), (0x300, rows[11][1]), (0x302, 2), (0x302, 3)])

    def test_errors(self):
        """Results are the program's; no pointer is followed after a call that failed."""
        outcome = self.both("bad", program=f"{TAKEN};error cudaMallocPitch 1;error cudaMemcpyAsync 700;error cudaLaunchKernel 98")
        self.assert_all_calls(outcome)
        self.assertEqual(sorted(e["result"] for e in recorded(outcome)), sorted(-t["result"] for t in true_calls(outcome)))
        launch, = outcome.of("cuda_launch")
        self.assertNotIn("name", {k: v for k, v in launch.items() if v})  # never registered: unknown

    def test_threads(self):
        outcome = self.both("threads")
        self.assert_all_calls(outcome)
        true = collections.Counter((t["tid"], t["name"]) for t in outcome.true("kernel"))
        self.assertEqual(collections.Counter((e["tid"], e["name"]) for e in outcome.of("cuda_launch")), true)
        self.assertEqual(len(outcome.of("cuda_launch")), 4000)

    def test_forked_and_executed_children(self):
        outcome = self.both("children")
        self.assert_all_calls(outcome)
        self.assertEqual(len({e["pid"] for e in recorded(outcome)}), 2)  # the parent calls nothing
        self.assertEqual({e["pid"] for e in outcome.of("gpu_tracing")}, {e["pid"] for e in recorded(outcome)})

    def test_graphs_pools_and_old_runtimes(self):
        for major in (11, 12, 13):
            for case in ("basic", "threads", "graph", "pool", "host_functions"):
                with self.subTest(major=major, case=case):
                    self.assert_all_calls(self.both(f"{DOUBLES}/workload_{major}", case))

    def test_query_that_is_not_ready_is_no_error(self):
        outcome = self.run_program([f"{DOUBLES}/workload_13", "unready"], TAKEN)  # prints a time: not the same twice
        self.assertEqual({e["result"] for e in recorded(outcome)}, {0})

    def test_polling_is_a_wait(self):
        """Loops of questions are one wait each, however often they ask; single questions and loops that sleep are none."""
        for _ in range(5):  # a loop that loses its CPU for long is none any more, and a busy machine takes it from both
            outcome = self.both("polls", program=f"{TAKEN};kernel_ns 3e6")
            asked = sum(t["name"].startswith(("cudaEventQuery", "cudaStreamQuery")) for t in outcome.true("api"))
            waits = collections.Counter((e["name"], e["class"]) for e in outcome.of("cuda_call"))
            if asked > 1500 and set(waits.values()) == {1} and max(e["duration_ns"] for e in outcome.of("cuda_call")) > 1e6:
                break
        self.assertGreater(asked, 1500)
        # one of the two is enough; the per-thread stream had nothing to do
        self.assertLessEqual(set(waits), {("cudaEventQuery (polling)", SYNC), ("cudaStreamQuery (polling)", SYNC)})
        self.assertEqual(set(waits.values()), {1})
        self.assertGreater(max(e["duration_ns"] for e in outcome.of("cuda_call")), 1e6)

    def test_spans_lie_around_the_calls(self):
        """On the thread's own clock: what the doubles took is inside what we say it took."""
        outcome = self.both("copies")
        true = sorted(true_calls(outcome), key=lambda t: t["start_ns"])
        seen = sorted(recorded(outcome), key=lambda e: e["start_ns"])
        shorter = [(e["name"], e["duration_ns"]) for t, e in zip(true, seen) if e["duration_ns"] + 100 < t["end_ns"] - t["start_ns"]
                   if "name" in e]
        self.assertEqual(shorter, [])


class Sentences(WrapperCase):
    """One event says why there is no timeline of the GPU."""

    def sentence(self, outcome):
        said = outcome.of("gpu_tracing")
        self.assertEqual(len(said), 1, said)
        return said[0]["state"], said[0]["reason"]

    def test_another_tool_has_cupti(self):
        self.assertEqual(self.sentence(self.both("memory")),
                         (WRAPPED, "another tool has CUPTI: a profiler of NVIDIA's, a debugger, or the program itself"))

    def test_no_driver(self):
        outcome = self.both("ask", program="fault no_driver")
        self.assertEqual(self.sentence(outcome), (WRAPPED, "CUDA says that there is no driver, or too old a one"))
        self.assertEqual(recorded(outcome), [])
        outcome = self.both("memory", program="fault no_driver")
        self.assertEqual(self.sentence(outcome)[1], "CUDA says that there is no driver, or too old a one")
        self.assertEqual({e["result"] for e in recorded(outcome)}, {-35})

    def test_another_tool_has_the_variable(self):
        for value, said in (("/opt/nsys/libToolsInjection64.so", "is set by somebody else, to /opt/nsys/libToolsInjection64.so"),
                            ("none", "is set to no library")):
            outcome = self.both("memory", program="", CUDA_INJECTION64_PATH=value)
            self.assertEqual(self.sentence(outcome), (WRAPPED, f"CUDA_INJECTION64_PATH {said}"))
            self.assert_all_calls(outcome)

    def test_switched_off(self):
        for variable in (LIBRARY, "unset"):
            outcome = self.both("memory", program="", PROFTRACE_CUDA="0", CUDA_INJECTION64_PATH=variable)
            self.assertEqual(self.sentence(outcome), (OFF, "PROFTRACE_CUDA is off"))
            self.assertEqual(recorded(outcome), [])

    def test_cupti_sees_it_all(self):
        """While CUPTI records, the wrappers pass through: no call is there twice."""
        outcome = self.both("memory", program="", CUDA_INJECTION64_PATH="unset")
        self.assertEqual([outcome.of(kind) for kind in KINDS[1:]], [[], [], []])
        names = collections.Counter(e["name"] for e in outcome.of("cuda_call"))
        true = collections.Counter(WRAPPED_NAMES[t["name"]] for t in true_calls(outcome))
        self.assertEqual({name: names[name] for name in true}, true)
        # the call that brought CUDA up: what it took until CUPTI was there
        begun, = [e for e in outcome.of("cuda_call") if e["name"] == "initialization of CUDA"]
        self.assertEqual(begun["class"], LOAD)
        first = min((e for e in outcome.of("cuda_call") if e is not begun), key=lambda e: e["start_ns"])
        self.assertLessEqual(begun["start_ns"] + begun["duration_ns"], first["start_ns"] + 1000)

    def test_program_without_cuda(self):
        outcome = self.both("/bin/sh", "-c", "grep -c -e libcu -e nvidia /proc/$$/maps; :")
        self.assertEqual(outcome.out, "0\n")
        self.assertEqual([e for e in outcome.events if e["event"].startswith(("gpu_", "cuda_"))], [])


@unittest.skipUnless(os.path.exists("/usr/local/cuda/bin/nvcc") or subprocess.run(["which", "nvcc"], capture_output=True, check=False)
                     .returncode == 0, "needs nvcc")
class RealCompiler(WrapperCase):
    def test_program_of_nvcc(self):
        """As nvcc 13 writes it: __cudaGetKernel and __cudaLaunchKernel, and on the real runtime, which finds no driver here."""
        source = os.path.join(ROOT, "tests/fakecuda/programs/app.cu")
        made = subprocess.run(["nvcc", "-cudart", "shared", source, "-o", f"{self.root}/app"], capture_output=True, text=True,
                              timeout=280, check=False)
        if made.returncode:
            self.skipTest("nvcc cannot compile here: " + made.stderr[:300])
        outcome = self.both(f"{self.root}/app")
        self.assert_all_calls(outcome)
        self.assertEqual(collections.Counter(e["name"] for e in outcome.of("cuda_launch")),
                         collections.Counter(t["name"] for t in outcome.true("kernel")))
        self.assertTrue(outcome.of("cuda_launch"))
        real = "/usr/local/cuda/lib64"
        if os.path.exists(f"{real}/libcudart.so.13") and not os.path.exists("/dev/nvidiactl"):
            outcome = self.both(f"{self.root}/app", LD_LIBRARY_PATH=real)
            self.assertEqual(Sentences.sentence(self, outcome)[1], "CUDA says that there is no driver, or too old a one")


if __name__ == "__main__":
    main()
