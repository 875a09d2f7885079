#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Why the GPU was idle: what the report says of planted gaps, against what the doubles and the program know to be true.

The doubles know when the GPU truly ran; the small torch (tests/fakecuda) notes when each planted cause kept its thread. Both lie on
CLOCK_MONOTONIC: their intersection is what each cause must be given, within 2 % of the idle time, no less and no more. The times of records are interpolated, as CUPTI does it: a thousandth of what the GPU did
may be missing. On a busy machine
the planted times include moments in which the thread that launches could have run and did not: these the report calls `runnable`.
Thousands of calls are recorded amid a cause: that is `tracing`. By no more than these two it may fall short.
Within a call the report cannot tell such moments: by what the thread queued for a CPU (schedstat) there may be more of a cause than planted.
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", os.path.join(HERE, "..", "..", "build")))
PROFTRACE = os.path.join(BUILD, "proftrace")
TORCH = os.path.join(HERE, "..", "fakecuda", "mini_torch.py")
TOLERANCE = 0.02
KNOWN_BY_SAMPLES = {"python", "native", "heap", "tracing", "page_in"}
CHANCE_S = 0.03  # three samples

# Planted cause -> the causes of the report that it is. More than one where what was planted is truly more than one thing.
TOLD_AS = {
    "slow_file": ("file_read",),
    # A sample that is due while the kernel enters or leaves a fault is taken right after it, in the code that faulted.
    "page_in": ("page_in", "native"),
    "fresh_pages": ("page_in", "native"),
    # The holder is started, too, and Python's own lock goes from the one to the other.
    "lock": ("lock", "process_start", "gil_wait"),
    "python_lock": ("lock", "process_start", "gil_wait"),
    "gil": ("gil_wait",),
    "python": ("python",),
    "importer": ("python",),
    "sleep": ("sleep",),
    "cuda_malloc": ("cuda_alloc", "cuda_free"),  # each cudaMalloc is followed by its cudaFree
    # The run counts allocations: its own part of each is told apart. What calls malloc in a loop is code, too.
    "heap": ("heap", "tracing", "native"),
    "sync_copy": ("copy", "native"),  # after its end a copy of the doubles still writes down what it did
    "worker": ("data_wait",),  # the trainer waits for a batch, whatever its workers do
}
# What comes amid any cause and is told apart: the thread does not get a CPU, or what it does is recorded.
BESIDE = ("runnable", "tracing")
# What a worker did while the trainer waited for it: how the text of the place ends.
WORKER_DID = {"worker_sleep": "Sleep", "worker_slow_file": "File read"}


# Python that is busy: first beside a GPU that computes on another stream all the time, then while the GPU waits for it.
TWO_STREAMS = """
import json, sys, time
sys.path.insert(0, {folder!r})
from minitorch import cuda

def step(kept_busy_by):
    cuda.launch("gemm", stream=first)
    cuda.check(cuda.library().mt_synchronize(first))
    kept_busy_by()

def beside_the_gpu():
    end = time.monotonic() + 0.1
    while time.monotonic() < end: sum(range(1000))

def before_the_gpu():
    end = time.monotonic() + 0.2
    while time.monotonic() < end: sum(range(1000))

first, second = cuda.stream(), cuda.stream()
cuda.launch("allreduce", stream=second)
for _ in range(10):
    step(beside_the_gpu)
cuda.synchronize()
for _ in range(5):
    step(before_the_gpu)
step(int)
print(json.dumps({{}}))
"""


def run(*arguments, program=TORCH, fakecuda=""):
    """(what is true, the GPU of the report)"""
    with tempfile.TemporaryDirectory(prefix="proftrace-gaps-") as folder:
        data = os.path.join(folder, "run")
        environment = {**os.environ, "LD_LIBRARY_PATH": os.path.join(BUILD, "fakecuda/lib"), "PROFTRACE_BUILD": BUILD,
                       "FAKECUDA": f"malloc_ns 200000{fakecuda}",  # much longer than cudaFree: neither is preempted for as long
                       "FAKECUDA_WITNESS": os.path.join(folder, "witness")}
        done = subprocess.run([PROFTRACE, "run", "-o", data, "--no-report", "--", "/usr/bin/python3", program, *arguments],
                              env=environment, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        true = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
        report = subprocess.run([PROFTRACE, "report", data, "--format", "json"], capture_output=True, text=True, timeout=120, check=False)
        if report.returncode:
            raise AssertionError(report.stderr)
        return true, json.loads(report.stdout)["stages"][0]["gpu"]


class Gaps(unittest.TestCase):
    def check(self, true, gpu):
        device = gpu["devices"][0]
        told = {row["cause"]: row["seconds"] for row in device["idle_causes"]}
        idle_s = true["idle_of_all"]["idle_ns"] / 1e9
        self.assertAlmostEqual(device["idle_s"], idle_s, delta=0.001 * (idle_s + device["busy_s"]))
        self.assertAlmostEqual(sum(told.values()), device["idle_s"], delta=1e-5, msg=told)
        self.assertEqual(gpu["completeness_percent"], 100)
        queued_s = true["waited_for_cpu_ns"] / 1e9
        planted = {cause: ns / 1e9 for cause, ns in true["idle_of_all"]["by_cause_ns"].items()}
        for cause, place in WORKER_DID.items():
            if cause in planted:
                found, beside_s = (sum(row["seconds"] for row in device["idle_places"] if row["cause"] == "data_wait" and what in row["where"])
                                   for what in (place, "Waiting for a CPU"))
                planted_s = planted.pop(cause)
                self.assertGreater(found, planted_s - TOLERANCE * idle_s - beside_s, (cause, device["idle_places"]))
                self.assertLess(found, planted_s + TOLERANCE * idle_s, (cause, device["idle_places"]))
        for names in {TOLD_AS[cause] for cause in planted}:
            planted_s = sum(s for cause, s in planted.items() if TOLD_AS[cause] == names)
            found = sum(told.get(name, 0) for name in names)
            beside_s = sum(told.get(name, 0) for name in BESIDE if name not in names)
            chance_s = CHANCE_S if KNOWN_BY_SAMPLES & set(names) else 0
            self.assertGreater(found, planted_s - TOLERANCE * idle_s - beside_s - chance_s, (names, told, true["idle_of_all"]))
            self.assertLess(found, planted_s + TOLERANCE * idle_s + queued_s + chance_s, (names, told, true["idle_of_all"], queued_s))
            rest = max(told.get(name, 0) for name in names if name not in BESIDE)
            self.assertGreaterEqual(told.get(names[0], 0), rest, (names, told))

    def check_all(self, cases):
        """Two at a time: more would wait for CPUs, and the idle time be `runnable`."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for case, outcome in zip(cases, pool.map(lambda case: run(*case.split()), cases)):
                with self.subTest(case=case):
                    self.check(*outcome)

    # What is known by samples is right to some ten milliseconds: few steps, with little around the causes, and long causes.

    def test_each_cause_alone(self):
        self.check_all([f"--steps 5 --cause {cause}=300" for cause in TOLD_AS if cause != "worker"])

    def test_code_of_the_importer_is_whose_it_works_for(self):
        """What lies in the interpreter itself is in no file that somebody could look into."""
        _, gpu = run("--steps", "5", "--cause", "importer=300")
        places = [row["where"] for row in gpu["devices"][0]["idle_places"] if row["cause"] == "python"]
        self.assertIn("causes.py:", places[0])
        self.assertFalse([place for place in places if "<frozen importlib" in place])

    def test_code_is_named_by_the_line_that_calls_it(self):
        """malloc is called by each part of a program."""
        _, gpu = run("--steps", "5", "--cause", "heap=300")
        places = [row["where"] for row in gpu["devices"][0]["idle_places"] if row["cause"] == "heap"]
        self.assertRegex(places[0], r"^causes\.py:\d+ heap$")

    def test_what_ran_beside_a_busy_gpu_is_no_cause(self):
        """Each small kernel ends, and the next begins, while a large one on another stream goes on: no GPU waited for what
        Python did between them. That is seen when the large one has ended."""
        with tempfile.TemporaryDirectory(prefix="proftrace-gaps-") as folder:
            program = os.path.join(folder, "two_streams.py")
            with open(program, "w", encoding="utf-8") as file:
                file.write(TWO_STREAMS.format(folder=os.path.dirname(TORCH)))
            _, gpu = run(program=program, fakecuda="; kernel *nccl* 2000000000; kernel * 400000")
        device = gpu["devices"][0]
        self.assertGreater(device["busy_s"], 2)
        self.assertLess(device["idle_s"], 1.5)
        seconds = {name: sum(row["seconds"] for row in device["idle_places"] if row["cause"] == "python" and name in row["where"])
                   for name in ("beside_the_gpu", "before_the_gpu")}
        beside_s = sum(row["seconds"] for row in device["idle_causes"] if row["cause"] in BESIDE)
        self.assertGreater(seconds["before_the_gpu"], 0.8 * (device["idle_s"] - beside_s), device["idle_places"])
        self.assertLess(seconds["beside_the_gpu"], CHANCE_S, device["idle_places"])

    def test_causes_mixed(self):
        self.check_all([
            "--steps 6 --cause slow_file=80 --cause sleep=80:2 --cause lock=60:3 --cause cuda_malloc=40 --cause sync_copy=40",
            "--steps 6 --cause python=160 --cause gil=60:2 --cause page_in=60 --cause sleep=60:3",
            "--steps 6 --cause heap=160 --cause slow_file=60 --cause python_lock=60:2",
        ])

    def test_a_slow_worker_is_followed(self):
        """The trainer waits for a worker that sleeps, or reads a file, or does both; and has other reasons, too."""
        self.check_all([
            "--steps 10 --workers 1 --batch-bytes 65536 --worker-cause sleep=100",
            "--steps 10 --workers 1 --batch-bytes 65536 --start spawn --worker-cause slow_file=100",
            "--steps 10 --workers 1 --batch-bytes 65536 --worker-cause sleep=50 --worker-cause slow_file=80 --cause lock=30 --cause slow_file=40",
        ])

    def test_threads_and_steps(self):
        """Whoever of several threads launches next answers for a gap; the sums stay exact."""
        true, gpu = run("--steps", "10", "--threads", "4", "--cause", "sleep=10")
        true["idle_of_all"]["by_cause_ns"] = {}
        self.check(true, gpu)


if __name__ == "__main__":
    if not os.path.isdir(os.path.join(BUILD, "fakecuda/lib")):
        print("the doubles of CUDA are not built here")
        sys.exit(77)
    unittest.main(verbosity=2)
