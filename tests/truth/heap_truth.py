# SPDX-License-Identifier: MIT
"""Heap numbers are true: number, bytes, releases, live bytes and peak of a program that counts them itself, and heaptrack's."""
import os
import re
import statistics
import subprocess
import sys

from harness import FaultCase, clean_environment, run_command

# pthread_create allocates a vector of thread-local storage; the loader's own calls reach malloc too.
OF_LIBC_PER_THREAD = 2


class HeapTruth(FaultCase):
    def known(self, *arguments, mode):
        environment = self.preload_environment(clean_environment(), mode)
        self.fresh_work()
        result = run_command([self.host("heap_known"), *arguments], self.work, environment)
        self.assertEqual((result.status, result.err), (0, b""))
        numbers = {key: int(value) for key, value in re.findall(r"(\w+) (\d+)", result.out.decode())}
        return numbers, self.trace()

    def test_counts_and_bytes_are_exact(self):
        for mode in ("sampled", "full"):
            with self.subTest(mode=mode):
                numbers, trace = self.known(mode=mode)
                for what in ("allocs", "frees", "bytes"):
                    self.assertEqual(trace.heap(what), numbers[what], what)

    def test_peak_is_exact_in_full_mode(self):
        numbers, trace = self.known(mode="full")
        self.assertEqual(trace.report()["processes"][0]["heap"]["live_bytes_peak"], numbers["peak"])

    def test_peak_lies_in_its_interval_in_sampled_mode(self):
        """An interval of 95 %: one run in twenty lies outside, five of eight once in 60,000 times."""
        outside = []
        for _ in range(8):
            numbers, trace = self.known(mode="sampled")
            low, high = trace.report()["processes"][0]["heap"]["live_bytes_peak_interval"]
            if not low <= numbers["peak"] <= high:
                outside.append((low, numbers["peak"], high))
        self.assertLessEqual(len(outside), 4, outside)

    def test_threads_that_take_turns(self):
        for mode in ("sampled", "full"):
            with self.subTest(mode=mode):
                numbers, trace = self.known("3", mode=mode)
                for what in ("allocs", "frees"):
                    self.assertGreaterEqual(trace.heap(what), numbers[what])
                    self.assertLessEqual(trace.heap(what), numbers[what] + 3 * OF_LIBC_PER_THREAD)
                if mode == "full":
                    self.assertAlmostEqual(trace.report()["processes"][0]["heap"]["live_bytes_peak"], numbers["peak"], delta=3 * 4096)

    def growth_of(self, argv, mode="sampled", **more):
        environment = {**self.preload_environment(clean_environment(), mode), **more}
        self.fresh_work()
        result = run_command(argv, self.work, environment)
        self.assertEqual((result.status, result.err), (0, b""))
        report = self.trace().report()
        found = [finding for finding in report["findings"] if finding["rule"] == "heap_growth"]
        return report["stages"][0], found[0] if found else None

    def test_a_leak_is_as_large_as_it_is(self):
        """All of it is given back before the end, and beside it 1.8 GB are released at once. Where it begins and ends is told by samples, and
        other load comes between them: what does not hold is measured up to three times more."""
        for mode in ("sampled", "full"):
            with self.subTest(mode=mode):
                self.once_of_four(lambda mode=mode: self.check_leak(mode))

    def once_of_four(self, check):
        for _ in range(3):
            try:
                return check()
            except AssertionError as why:
                print(f"once more: {why}", file=sys.stderr)
        return check()

    def check_leak(self, mode):
        stage, finding = self.growth_of([self.host("leak_known")], mode)
        evidence, site = finding["evidence"], finding["evidence"]["sites"][0]
        # Some of the 40 to 110 samples lie where the rise begins or ends.
        self.assertAlmostEqual(evidence["growth_bytes"] / 60e6, 1, delta=0.06)
        self.assertAlmostEqual(site["growth_bytes"] / 60e6, 1, delta=0.06)
        self.assertEqual(site["allocs"], 600)
        self.assertRegex(site["function"], "^leaky")
        self.assertEqual(finding["place"]["function"], "leaky")
        self.assertLessEqual(evidence["share_of_peak_percent"], 100)
        self.assertLessEqual(stage["heap"]["growth_bytes"], stage["heap"]["live_bytes_peak_of_largest_process"])
        self.assertAlmostEqual(stage["heap"]["live_bytes_peak_of_largest_process"] / 63e6, 1, delta=0.06)

    def test_leaks_of_python(self):
        self.once_of_four(self.check_leaks_of_python)

    def check_leaks_of_python(self):
        loop = "import time\nkept = []\nfor i in range(400):\n    kept.extend({})\n    time.sleep(0.002)\n"
        _, finding = self.growth_of(["/usr/bin/python3", "-c", loop.format("[bytearray(200000)]")])
        self.assertAlmostEqual(finding["evidence"]["growth_bytes"] / 80e6, 1, delta=0.05)
        self.assertGreater(finding["evidence"]["sites"][0]["growth_bytes"], 76e6)
        # A tuple of two takes 56 bytes and the collector's head 16, an int 32, and its place in the list 8 more.
        # Of 120 samples, as many as there are by default, one time in ten a quarter is missing by chance.
        often = {"PROFTRACE_HEAP_SAMPLE_BYTES": "65536"}
        _, finding = self.growth_of(["/usr/bin/python3", "-c", loop.format("(i, j + 300) for j in range(1500)")], **often)
        self.assertAlmostEqual(finding["evidence"]["growth_bytes"] / (400 * 1500 * 112), 1, delta=0.15)
        self.assertGreater(finding["evidence"]["python_objects_bytes"], 0.8 * finding["evidence"]["growth_bytes"])
        self.assertEqual((finding["place"]["function"], finding["place"]["line"]), ("<genexpr>", 4))
        self.assertAlmostEqual(finding["evidence"]["sites"][0]["growth_bytes"] / (400 * 1500 * 104), 1, delta=0.25)

    def test_what_is_read_and_used_is_no_leak(self):
        code = ("import time\nrows = []\nfor i in range(400):\n    rows.append(bytearray(200000))\n    time.sleep(0.001)\n"
                "for i in range(400):\n    sum(map(len, rows))\n    time.sleep(0.002)\n")
        stage, finding = self.growth_of(["/usr/bin/python3", "-c", code])
        self.assertIsNone(finding)
        # An estimate from a third of the 400 blocks: 8 % of it either way, once in three times.
        self.assertAlmostEqual(stage["heap"]["growth_bytes"] / 80e6, 1, delta=0.4)

    def test_a_library_of_a_relative_name_has_functions(self):
        """`dlopen("./plugin.so")`: the loader knows it by this name, which means another file where the report is made."""
        self.need("gcc")
        source = "void *malloc(unsigned long); void *volatile kept; void grab(void) { for (int i = 0; i < 5000; i++) kept = malloc(5000); }\n"

        def setup(work):
            subprocess.run(["gcc", "-g", "-O1", "-w", "-shared", "-fPIC", "-x", "c", "-o", os.path.join(work, "plugin.so"), "-"],
                           input=source.encode(), check=True)
        self.fresh_work(setup)
        result = run_command(["/usr/bin/python3", "-c", "import ctypes; ctypes.CDLL('./plugin.so').grab()"], self.work,
                             self.preload_environment(clean_environment(), "full"))
        self.assertEqual((result.status, result.err), (0, b""))
        site = self.trace().report()["stages"][0]["heap_sites"][0]
        self.assertIn("native: grab ", site["stack"])
        self.assertGreater(site["allocs"], 2500)  # where its stacks are thinned, an estimate: once it was 4978 of 5000

    def storm(self, milliseconds, mode="sampled"):
        """What the program knows, and the sites of the report."""
        environment = self.preload_environment(clean_environment(), mode)
        self.fresh_work()
        result = run_command([self.host("storm_known"), str(milliseconds)], self.work, environment)
        self.assertEqual((result.status, result.err), (0, b""))
        known = {key: int(value) for key, value in re.findall(r"(\w+) (\d+)", result.out.decode())}
        return known, {site["function"].split()[0]: site for site in self.trace().report()["stages"][0]["heap_sites"]}

    def test_a_storm_of_allocations(self):
        """Stacks take less than 0.5 % of the CPU time however many samples there are, and what is said of the call sites is as true."""
        with self.subTest(mode="full"):
            known, sites = self.storm(200, "full")
            self.assertAlmostEqual(sites["often"]["allocs"] / known["often"], 1, delta=0.02)
        with self.subTest(mode="sampled"):
            shares = []
            for _ in range(3):  # what a stack takes is measured behind the storm: another program may come then
                known, sites = self.storm(1000)
                self.assertAlmostEqual(sites["often"]["allocs"] / known["often"], 1, delta=0.02)
                shares.append(sum(site["samples"] for site in sites.values()) * known["unwinding_ns"] / known["cpu_ns"])
                if shares[-1] <= 0.005:
                    break
            self.assertLessEqual(min(shares), 0.005)

    def test_thinned_stacks_are_unbiased(self):
        """One run is off by a fifth, for about 120 stacks stand for 25,000 allocations, and by twice that on a busy machine, where there are
        fewer; the mean of twenty is off by a twentieth to a tenth. Without the weights of the samples it would be a third too small."""
        found, error = [], 1
        while len(found) < 20 or error > 0.08 and len(found) < 60:
            known, sites = self.storm(500)
            found.append(sites["seldom"]["allocs"] / known["seldom"])
            error = statistics.stdev(found) / len(found) ** 0.5 if len(found) > 1 else 1
        self.assertAlmostEqual(statistics.mean(found), 1, delta=max(0.15, 5 * error), msg=[round(one, 2) for one in found])

    def heaptrack_count(self, attempt):
        raw = os.path.join(self.scratch, f"heaptrack{attempt}")
        subprocess.run(["heaptrack", "-o", raw, self.host("heap_known")], cwd=self.work, env=clean_environment(), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        written = next(os.path.join(self.scratch, name) for name in os.listdir(self.scratch)
                       if name.startswith(os.path.basename(raw)))
        text = subprocess.run(["heaptrack_print", "-f", written], capture_output=True, text=True, check=True, timeout=120).stdout
        return int(re.search(r"calls to allocation functions: (\d+)", text)[1])

    def test_heaptrack_counts_the_same(self):
        self.need("heaptrack", "heaptrack_print")
        numbers, trace = self.known(mode="full")
        # heaptrack loses the last of its pipe on a busy machine (4,113 of 36,700 once): the best of three is the witness.
        theirs = max(self.heaptrack_count(attempt) for attempt in range(3))
        # Its own C++ runtime allocates once before the program does.
        self.assertLessEqual(abs(theirs - trace.heap("allocs")), 2)
        self.assertEqual(trace.heap("allocs"), numbers["allocs"])
