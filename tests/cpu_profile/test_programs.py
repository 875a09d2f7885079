# SPDX-License-Identifier: MIT
"""Python that calls C, a refusing kernel, many samples, damaged files, exports; and what all this costs."""
import json
import os
import subprocess

from cpu_case import CpuCase, main

PYTHON = "/usr/bin/python3"
HALF_IN_C = """
import ctypes, time
library = ctypes.CDLL({library!r})
library.in_c.argtypes = [ctypes.c_double]
def in_python(seconds):
    end = time.thread_time() + seconds
    x = 1
    while time.thread_time() < end:
        for i in range(2000):
            x = (x * 3 + i) & 0xffff
in_c_s = 0
for i in range(20):
    in_python(0.1)
    begin = time.thread_time()
    library.in_c(0.1)
    in_c_s += time.thread_time() - begin
print(in_c_s / time.process_time())
"""
IN_C = """
#include <time.h>
static double cpu_s(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
volatile unsigned long sink;
void in_c(double s) { for (double end = cpu_s() + s; cpu_s() < end;) for (int i = 0; i < 20000; i++) sink += i; }
"""


class Python(CpuCase):
    def test_time_of_the_interpreter_is_told_from_that_of_c(self):
        library = os.path.join(self.folder, "in_c.so")
        subprocess.run(["cc", "-x", "c", "-", "-O1", "-g", "-shared", "-fPIC", "-o", library], input=IN_C, text=True,
                       check=True)
        self.best_of_three(lambda: self.check_split(library))

    def check_split(self, library):
        """The program says what its share of C was: about half, less what it took to start."""
        run, profile, output = self.run_it(PYTHON, "-c", HALF_IN_C.format(library=library))
        in_c_percent = 100 * float(output)
        functions = self.functions(run)
        self.assertAlmostEqual(functions["in_c"]["total_percent"], in_c_percent, delta=2)
        rows = self.report(run)["stages"][0]["cpu_functions"]
        of_program = max(row["total_percent"] for row in rows if row["function"] == "<module>")
        self.assertAlmostEqual(of_program, 100, delta=6)  # all but its start
        self.assertLess(profile.cut_share(), 0.05)
        collapsed = self.ask("export", "--to", "collapsed", "-o", "-", run)
        in_c = [line for line in collapsed.splitlines() if ";in_c" in line]
        self.assertTrue(in_c)
        self.assertTrue(all("<module> (<string>:" in line for line in in_c), in_c[:2])


# What computes is not exported. The caller is a program with names.
HIDDEN = """
#include <time.h>
volatile unsigned long sink;
static double cpu_s(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static __attribute__((noinline)) double hidden(double s) { double end = cpu_s() + s; while (cpu_s() < end) for (int i = 0; i < 20000; i++) sink += i; return end; }
double visible(double s) { return hidden(s) + 1; }
"""
CALLER = "double visible(double s); int main(void) { return visible(1) < 0; }"


class Stripped(CpuCase):
    def test_code_without_a_name_is_near_what_its_file_exports(self):
        """Below the caller with a name, and as a row that is no function's."""
        library, program = (os.path.join(self.folder, name) for name in ("libhidden.so", "caller"))
        for source, *command in ((HIDDEN, "-O1", "-shared", "-fPIC", "-s", "-o", library), (CALLER, "-o", program, library, f"-Wl,-rpath,{self.folder}")):
            subprocess.run(["cc", "-fno-optimize-sibling-calls", "-x", "c", "-", "-x", "none", *command], input=source, text=True, check=True)
        run, _, _ = self.run_it(program)
        rows = self.report(run)["stages"][0]["cpu_functions"]
        self.assertEqual(rows[0]["function"], "visible > [libhidden.so near visible]")
        self.assertGreater(rows[0]["self_percent"], 60)
        self.assertIn(";[libhidden.so near visible]", self.ask("export", "--to", "collapsed", "-o", "-", run))


COMPUTES = """
import time
def compute():
    end = time.process_time() + 1.5
    x = 1
    while time.process_time() < end:
        for i in range(2000):
            x = (x * 3 + i) & 0xffff
compute()
"""


class Refused(CpuCase):
    def test_schedstat_remains_and_the_report_says_so(self):
        run, profile, output = self.run_it(self.burn, "split", "1.2", before=(os.path.join(self.folder, "no_perf"),))
        self.assertEqual(profile.flags, 0)
        self.assertIn("perf_event_open", profile.note)
        self.assertAlmostEqual(profile.on_s(), float(output.split()[1]), delta=0.02)
        with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
            self.assertIn("perf_event_open", json.load(file)["notes"][0])
        self.ask("report", run)


    def test_many_that_have_ended_take_nobodys_looks(self):
        """A script that starts interpreters, as workers are for each epoch: a later one has its functions, too."""
        self.best_of_three(self.check_later_one)

    def check_later_one(self):
        script = f"for i in $(seq 80); do {PYTHON} -S -c 'import time; time.sleep(3)' & done; wait; {PYTHON} -c '{COMPUTES}'; :"
        run, profile, _ = self.run_it("/bin/sh", "-c", script, before=(os.path.join(self.folder, "no_perf"),))
        self.assertEqual(profile.flags, 0)
        rows = self.report(run)["stages"][0]["cpu_functions"]
        self.assertIn("compute", [row["function"] for row in rows])


class Exports(CpuCase):
    def test_formats_hold_every_sample(self):
        run, profile, _ = self.run_it(self.burn, "threads", "3", "0.5")
        collapsed = self.ask("export", "--to", "collapsed", "-o", "-", run)
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in collapsed.splitlines()), len(profile.samples))
        speedscope = json.loads(self.ask("export", "--to", "speedscope", "-o", "-", run))
        frames = len(speedscope["shared"]["frames"])
        self.assertEqual(sum(len(p["samples"]) for p in speedscope["profiles"]), len(profile.samples))
        for one in speedscope["profiles"]:
            self.assertEqual(len(one["samples"]), len(one["weights"]))
            self.assertAlmostEqual(sum(one["weights"]), one["endValue"], delta=1)
            self.assertTrue(all(0 <= frame < frames for sample in one["samples"] for frame in sample))
        stacks = json.loads(self.ask("stats", "--by", "stack", "--json", run))["stages"][0]["cpu_stacks"]
        self.assertIn("hot_half", stacks[0]["stack"])
        threads = json.loads(self.ask("stats", "--by", "thread", "--json", run))["stages"][0]["cpu_threads"]
        self.assertGreaterEqual(len(threads), 4)  # the library may have made helpers


class Damage(CpuCase):
    def test_a_cut_or_changed_file_costs_no_report(self):
        run, _, _ = self.run_it(self.burn, "threads", "2", "0.3")
        path = os.path.join(run, "cpu-0.pcp")
        with open(path, "rb") as file:
            whole = file.read()
        for n in range(0, len(whole), max(1, len(whole) // 40)):
            with open(path, "wb") as file:
                file.write(whole[:n])
            self.ask("stats", "--by", "stack", run)
            with open(path, "wb") as file:
                file.write(whole[:n] + bytes([whole[n] ^ 0x55]) + whole[n + 1:])
            self.ask("stats", "--by", "thread", run)


class Cost(CpuCase):
    """Design: at most 1 % of a core at 100 samples a second."""

    def share(self, *command):
        _, profile, _ = self.run_it(*command)
        return profile, 100 * profile.totals["own_cpu_ns"] / profile.totals["duration_ns"]

    def test_one_busy_thread(self):
        profile, percent = self.share(self.burn, "split", "3")
        print(f"{percent:.3f} % of a core at {profile.totals['samples']} samples", end=" ... ")
        self.assertLess(percent, 1)

    def test_torch(self):
        """Walking deep stacks costs more, and reading libtorch's tables once; a slow machine slows the program as much."""
        script = ("import time, torch\n"
                  "while time.process_time() < 4:\n"
                  "    for i in range(50): torch.nn.Linear(64, 64)(torch.randn(64, 64)).sum().backward()\n")
        if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode:
            self.skipTest("no torch")
        profile, _ = self.share(PYTHON, "-c", script)
        own_s, theirs_s = profile.totals["own_cpu_ns"] / 1e9, sum(times["on_s"] for times in profile.times.values())
        print(f"{1e3 * own_s:.0f} ms, {100 * own_s / theirs_s:.2f} % of theirs", end=" ... ")
        self.assertLess(own_s, 0.03 * theirs_s)



if __name__ == "__main__":
    main()
