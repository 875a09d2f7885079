# SPDX-License-Identifier: MIT
"""Where threads waited and for what, against a program that knows; and what looking at it costs."""
import json
import os
import re

from cpu_case import CpuCase, main

WAITS = 4  # the header's flag: stacks of waits were taken
REASONS = {"sleep_long": "Sleep", "sleep_short": "Sleep", "wait_lock": "Locks", "wait_pipe": "Data wait"}
POINTS = 4


class Waits(CpuCase):
    def run_waits(self, seconds):
        run, profile, output = self.run_it(self.wait, str(seconds))
        if not profile.flags & WAITS:
            self.skipTest("ordinary users get no stacks of waits here")
        said = {name: float(s) for name, s in (line.split() for line in output.splitlines())}
        return run, profile, said

    def check_shares(self, found, said, what):
        """Percent of the main thread's waits, by function."""
        for name, seconds in said.items():
            percent, expected = 100 * found[name] / sum(found.values()), 100 * seconds / sum(said.values())
            self.assertAlmostEqual(percent, expected, delta=POINTS, msg=f"{what}, {name}: {found}, said {said}")

    def test_functions_and_reasons_have_their_known_share(self):
        self.best_of_three(self.check_known_share)

    def check_known_share(self):
        run, profile, said = self.run_waits(5)
        # On a busy machine it is preempted at many places.
        rows = json.loads(self.ask("stats", "--by", "stack", "--top", "1000", "--json", run))["stages"][0]["off_cpu_stacks"]
        found = dict.fromkeys(said, 0)
        for row in rows:
            for name in said:
                if row["stack"] and re.search(rf"\b{name}\b", row["stack"]) and row["reason"] == REASONS[name]:
                    found[name] += row["main_s"]
        self.check_shares(found, said, "table")
        # All time off the CPU is in the table, that of the other thread, too.
        off_s = sum(times["waiting_s"] + times["preempted_s"] for times in profile.times.values())
        self.assertAlmostEqual(sum(row["off_s"] for row in rows), off_s, delta=0.02 * off_s)
        self.assertIn("off_cpu_stacks", self.report(run)["stages"][0])

    def test_exports_hold_all_of_it(self):
        self.best_of_three(self.check_exports)

    def check_exports(self):
        run, profile, said = self.run_waits(2)
        main_thread = f"-{profile.root}/{profile.root};"
        lines = self.ask("export", "--to", "collapsed", "--off-cpu", "-o", "-", run).splitlines()
        found = dict.fromkeys(said, 0)
        for line in (line for line in lines if main_thread in line):
            for name in said:
                if f";{name};" in line and f";[{REASONS[name]}] " in line:
                    found[name] += int(line.rsplit(" ", 1)[1]) / 1e6
        self.check_shares(found, said, "collapsed")
        speedscope = json.loads(self.ask("export", "--to", "speedscope", "--off-cpu", "-o", "-", run))
        frames = [frame["name"] for frame in speedscope["shared"]["frames"]]
        shown = next(p for p in speedscope["profiles"] if f" {profile.root}/{profile.root}" in p["name"])
        for name in said:
            total_us = sum(weight for sample, weight in zip(shown["samples"], shown["weights"])
                           if name in [frames[i] for i in sample] and frames[sample[-1]] == f"[{REASONS[name]}]")
            self.assertAlmostEqual(total_us / 1e6, found[name], delta=1e-3 + 0.01 * found[name])
        self.ask("export", "--to", "collapsed", "--off-cpu", run)
        self.assertTrue(os.path.exists(os.path.join(run, "off-cpu.collapsed.txt")))

    def test_a_page_that_is_not_there_yet_is_no_call(self):
        """Python that only computes and sleeps: its sleeps are no page faults, and its name is in the stack."""
        script = ("import time\n"
                  "began = time.monotonic()\n"
                  "for i in range(40): time.sleep(0.02)\n"
                  "print(time.monotonic() - began)")
        run, profile, said = self.run_it("/usr/bin/python3", "-c", script)
        if not profile.flags & WAITS:
            self.skipTest("ordinary users get no stacks of waits here")
        rows = json.loads(self.ask("stats", "--by", "stack", "--json", run))["stages"][0]["off_cpu_stacks"]
        of_python = re.compile("PyEval_EvalCode|<module>")  # the kernel's stack as it leaves the CPU, or one that was read since
        slept_s = sum(row["main_s"] for row in rows if row["reason"] == "Sleep" and of_python.search(row["stack"] or ""))
        self.assertGreater(slept_s, 0.95 * 40 * 0.02, rows)  # the rest of what it says is queueing, other programs' doing
        self.assertLess(slept_s, float(said) + 0.01, rows)
        # Files that a busy disk has yet to bring, at the start; never the sleeps.
        faults_s = sum(row["off_s"] for row in rows if row["reason"] == "Page faults")
        self.assertLess(faults_s, 0.5 * slept_s, rows)
        finding = next(finding for finding in self.report(run)["findings"] if finding["rule"] == "sleep_polling")
        self.assertRegex(finding["evidence"]["where"], r"^<string>:3 <module>")
        self.assertEqual((finding["place"]["language"], finding["place"]["function"]), ("python", "<module>"))

    def test_a_part_of_a_wait(self):
        """A sleep that began before the part that is asked for, or ends behind it, counts as long as it lies there."""
        run, profile, _ = self.run_it("/usr/bin/python3", "-c", "import time; time.sleep(3)")
        if not profile.flags & WAITS:
            self.skipTest("ordinary users get no stacks of waits here")
        lines = self.ask("export", "--to", "collapsed", "--off-cpu", "--from", "1s", "--until", "2s", "-o", "-", run).splitlines()
        slept_us = sum(int(line.rsplit(" ", 1)[1]) for line in lines if "[Sleep]" in line)
        self.assertAlmostEqual(slept_us / 1e6, 1, delta=0.02, msg=lines)

    def test_rare_long_waits_in_a_crowd_have_their_stack(self):
        """Thousands of short waits a second fill the ring of stacks; a wait of 250 ms is met by a look at who is out."""
        self.best_of_three(self.check_crowd)

    def check_crowd(self):
        run, profile, output = self.run_it(self.crowd, "2.5")
        if not profile.flags & WAITS:
            self.skipTest("ordinary users get no stacks of waits here")
        said_s = float(output.split()[1])
        rows = json.loads(self.ask("stats", "--by", "stack", "--json", run))["stages"][0]["off_cpu_stacks"]
        found_s = sum(row["off_s"] for row in rows if "wait_long" in (row["stack"] or "") and row["reason"] == "Sleep")
        self.assertAlmostEqual(found_s, said_s, delta=0.2 * said_s)
        all_s = sum(row["off_s"] for row in rows)
        self.assertLess(sum(row["off_s"] for row in rows if not row["stack"]), 0.15 * all_s)
        self.assertLess(sum(row["off_s"] for row in rows if row["reason"] == "Unknown"), 0.05 * all_s)


class Cost(CpuCase):
    def test_a_program_that_waits_all_the_time(self):
        """20 pairs of processes that hand a byte to and fro: many more switches than can be looked at."""
        script = ("import os\n"
                  "def play():\n"
                  "    a, b = os.pipe(), os.pipe()\n"
                  "    if os.fork():\n"
                  "        for i in range(4000): os.write(a[1], b'x'); os.read(b[0], 1)\n"
                  "        os._exit(0)\n"
                  "    for i in range(4000): os.read(a[0], 1); os.write(b[1], b'x')\n"
                  "    os._exit(0)\n"
                  "for i in range(20):\n"
                  "    if not os.fork(): play()\n"
                  "for i in range(20): os.wait()\n")
        _, profile, _ = self.run_it("/usr/bin/python3", "-c", script)
        percent = 100 * profile.totals["own_cpu_ns"] / profile.totals["duration_ns"]
        switches = sum(times["blocks"] + times["preemptions"] for times in profile.times.values())
        per_s = switches / profile.totals["duration_ns"] * 1e9
        own_s, theirs_s = profile.totals["own_cpu_ns"] / 1e9, sum(times["on_s"] for times in profile.times.values())
        print(f"{percent:.2f} % of a core at {per_s:,.0f} switches a second, {1e9 * own_s / switches:.0f} ns each, {100 * own_s / theirs_s:.2f} % of theirs", end=" ... ")
        # Nearly all of it is reading the records of switches. How many there are in a second, and what each takes, is the
        # machine's business: what disturbs the reader disturbs those that switch.
        self.assertLess(own_s, 0.06 * theirs_s)

    def test_a_program_that_waits_as_programs_do(self):
        _, profile, _ = self.run_it(self.wait, "3")
        percent = 100 * profile.totals["own_cpu_ns"] / profile.totals["duration_ns"]
        print(f"{percent:.3f} % of a core", end=" ... ")
        self.assertLess(percent, 1)


if __name__ == "__main__":
    main()
