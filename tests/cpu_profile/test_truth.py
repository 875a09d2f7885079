# SPDX-License-Identifier: MIT
"""Functions and threads against what the program itself and perf say of the same run."""
import os
import re
import shutil
import subprocess

from cpu_case import PROFTRACE, CpuCase, clean_environment, main, own_clocks

SPLIT = {"hot_half": 50, "hot_third": 30, "hot_fifth": 20}
POINTS = 2.0


class Split(CpuCase):
    def test_functions_have_their_known_share(self):
        run, profile, _ = self.run_it(self.burn, "split", "6")
        functions = self.functions(run)
        for name, percent in SPLIT.items():
            # What the kernel and the clock take inside of it counts for its total.
            self.assertAlmostEqual(functions[name]["total_percent"], percent, delta=POINTS, msg=name)
        self.assertGreater(functions["main"]["total_percent"], 98)
        self.assertLess(functions["main"]["self_percent"], 2)
        self.assertLess(profile.cut_share(), 0.01)

    def test_perf_says_the_same_of_the_same_run(self):
        perf = shutil.which("perf")
        if not perf:
            self.skipTest("no perf")
        run, data = os.path.join(self.folder, "with-perf"), os.path.join(self.folder, "perf.data")
        recorded = subprocess.run([perf, "record", "-q", "-F", "499", "-e", "cpu-clock", "-o", data, "--", PROFTRACE, "run",
                                   "--no-report", "--no-gpu-sampling", "-o", run, "--", self.burn, "split", "6"],
                                  env=clean_environment(), capture_output=True, text=True, timeout=120, check=False)
        if not os.path.exists(os.path.join(run, "cpu-0.pcp")):
            self.skipTest(f"perf does not work here: {recorded.stderr}")
        text = subprocess.run([perf, "report", "-q", "--stdio", "-i", data, "--comm", "burn", "--sort", "symbol",
                               "--percentage", "relative"], capture_output=True, text=True, timeout=120, check=True).stdout
        theirs = {name: float(percent) for percent, name in re.findall(r"^\s*([\d.]+)%\s+\[\.\]\s+(\S+)", text, re.M)}
        ours = self.functions(run)
        for name in SPLIT:
            self.assertAlmostEqual(ours[name]["self_percent"], theirs[name], delta=POINTS, msg=f"{name}: {theirs}")


class OwnClocks(CpuCase):
    """CLOCK_THREAD_CPUTIME_ID is the kernel's own account; the last instants of a thread come after its last look."""

    def check(self, profile, output, least):
        clocks = own_clocks(output)
        self.assertGreaterEqual(len(clocks), least)
        for tid, seconds in clocks.items():
            self.assertAlmostEqual(profile.of_tid(tid)["on_s"], seconds, delta=0.01 * seconds + profile.slack_s)
        self.assertEqual(profile.totals["lost_records"], 0)
        for times in profile.times.values():
            self.assertEqual(times["unknown_s"], 0)

    def test_threads(self):
        _, profile, output = self.run_it(self.burn, "threads", "8", "1")
        self.check(profile, output, 9)

    def test_forked_children(self):
        _, profile, output = self.run_it(self.burn, "forks", "8", "0.6")
        self.check(profile, output, 9)

    def test_exec_chain(self):
        _, profile, output = self.run_it("sh", "-c", f"exec sh -c 'exec {self.burn} split 0.5'")
        self.check(profile, output, 1)
        self.assertEqual(profile.threads[1]["comm"], "burn")

    def test_waiting_adds_up_to_the_life_of_the_thread(self):
        _, profile, output = self.run_it(self.burn, "sleep", "1")
        times, thread = profile.of_tid(next(iter(own_clocks(output)))), profile.threads[1]
        self.assertGreater(times["waiting_s"], 0.49)
        lived_s = times["end_s"] - thread["start_s"]
        self.assertAlmostEqual(times["on_s"] + times["preempted_s"] + times["waiting_s"], lived_s, delta=1e-6)

    def test_short_lived_processes(self):
        """None of them lives for one sample, and all of them are there."""
        _, profile, _ = self.run_it("sh", "-c", "for i in $(seq 200); do /bin/true; done")
        shorts = [n for n, thread in profile.threads.items() if thread["comm"] == "true"]
        self.assertEqual(len(shorts), 200)
        self.assertTrue(all(profile.times[n]["on_s"] > 0 for n in shorts))

    def test_sum_is_what_wait4_says(self):
        run, profile, _ = self.run_it(self.burn, "forks", "4", "0.3")
        with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
            cpu_s = float(re.search(r'"cpu_s": ([\d.]+)', file.read()).group(1))
        self.assertAlmostEqual(profile.on_s(), cpu_s, delta=0.01 * cpu_s + 0.003 + profile.slack_s)


class Unprivileged(CpuCase):
    def test_another_user(self):
        if os.geteuid():
            self.skipTest("we are an ordinary user in all other tests already")
        nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        _, profile, output = self.run_it(self.burn, "split", "1", before=nobody)
        seconds = next(iter(own_clocks(output).values()))
        self.assertAlmostEqual(profile.on_s(), seconds, delta=0.01 * seconds + profile.slack_s)
        self.assertGreater(profile.totals["samples"], 80)


if __name__ == "__main__":
    main()
