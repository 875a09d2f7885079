# SPDX-License-Identifier: MIT
"""Functions and threads against what the program itself and perf say of the same run."""
import os
import re
import shutil
import subprocess

from cpu_case import PROFTRACE, CpuCase, clean_environment, main, own_clocks

SPLIT = {"hot_half": 50, "hot_third": 30, "hot_fifth": 20}
LEAVES = ("left_leaf", "half_way", "right_leaf")
DEEP = {"left_leaf": 50, "half_way": 20, "right_leaf": 30, "descend": 50, "ping": 50, "pong": 50}
POINTS = 2.0
AFTER_LAST_LOOK_S = 0.001


class Split(CpuCase):
    def test_functions_have_their_known_share(self):
        self.best_of_three(self.check_known_share)

    def check_known_share(self):
        run, profile, _ = self.run_it(self.burn, "split", "6")
        functions = self.functions(run)
        for name, percent in SPLIT.items():
            # What the kernel and the clock take inside of it counts for its total.
            self.assertAlmostEqual(functions[name]["total_percent"], percent, delta=POINTS, msg=name)
        self.assertGreater(functions["main"]["total_percent"], 98)
        self.assertLess(functions["main"]["self_percent"], 2)
        self.assertLess(profile.cut_share(), 0.01)


class LastThread(CpuCase):
    """A process lasts as long as one of its threads does, whichever."""

    def test_functions_have_names_after_the_first_thread_has_ended(self):
        self.best_of_three(self.check_names)

    def check_names(self):
        run, _, _ = self.run_it(self.burn, "left", "1")
        self.assertGreater(self.functions(run)["hot_third"]["total_percent"], 90)

    def test_another_thread_calls_exec(self):
        self.best_of_three(self.check_exec)

    def check_exec(self):
        run, profile, output = self.run_it(self.burn, "exec", "2")
        functions = self.functions(run)
        for name, percent in {**SPLIT, "hot_fifth": 20 + 10}.items():
            self.assertAlmostEqual(functions[name]["total_percent"], percent / 1.1, delta=4, msg=name)
        # The first thread, which has ended, and the one that has its number since.
        self.assertEqual([row["comm"] for row in profile.threads.values() if row["tid"] == row["pid"] == int(output.split()[0])], ["burn", "burn"])


class BesidePerf(CpuCase):
    """`perf record` on the same run."""

    def run_both(self, *command):
        """Our functions, and perf's: name -> (self percent, total percent). Of inlined functions perf is not asked: that takes it
        minutes."""
        perf = shutil.which("perf")
        if not perf:
            self.skipTest("no perf")
        type(self).n += 1
        run, data = (os.path.join(self.folder, f"with-perf-{self.n}{end}") for end in ("", ".data"))
        recorded = subprocess.run([perf, "record", "-q", "-F", "499", "-g", "-e", "cpu-clock", "-o", data, "--", PROFTRACE, "run",
                                   "--no-report", "--no-gpu-sampling", "-o", run, "--", *command],
                                  env=clean_environment(), capture_output=True, text=True, timeout=120, check=False)
        if not os.path.exists(os.path.join(run, "cpu-0.pcp")):
            self.skipTest(f"perf does not work here: {recorded.stderr}")
        text = subprocess.run([perf, "report", "-q", "--stdio", "-i", data, "--comm", os.path.basename(command[0]), "--children",
                               "-g", "none", "--no-inline", "--sort", "symbol", "--percentage", "relative"],
                              capture_output=True, text=True, timeout=120, check=True).stdout
        rows = re.findall(r"^\s*([\d.]+)%\s+([\d.]+)%\s+\[\.\]\s+(\S+)", text, re.M)
        return self.functions(run), {name: (float(own), float(total)) for total, own, name in rows}

    def check_leaves(self):
        ours, theirs = self.run_both(self.burn, "split", "4")
        for name in SPLIT:
            self.assertAlmostEqual(ours[name]["self_percent"], theirs[name][0], delta=POINTS, msg=f"{name}: {theirs}")

    def check_deep(self):
        ours, theirs = self.run_both(self.deep, "4")
        for name, percent in DEEP.items():
            self.assertAlmostEqual(ours[name]["total_percent"], percent, delta=POINTS, msg=name)
            self.assertAlmostEqual(ours[name]["total_percent"], theirs[name][1], delta=POINTS, msg=f"{name}: {theirs}")
        # Both are inlined into the leaves, which is where perf sees them.
        inlined = ours["mix"]["self_percent"] + ours["burn"]["self_percent"]
        leaves = sum(ours[name]["self_percent"] for name in LEAVES)
        self.assertAlmostEqual(inlined + leaves, sum(theirs[name][0] for name in LEAVES), delta=POINTS, msg=str(theirs))
        self.assertGreater(ours["burn"]["total_percent"], 98)

    def test_leaves(self):
        self.best_of_three(self.check_leaves)

    def test_deep_recursion_and_inlined_functions(self):
        self.best_of_three(self.check_deep)


class OwnClocks(CpuCase):
    """CLOCK_THREAD_CPUTIME_ID is the kernel's own account. The last instants of a thread come after its last look: writing a line,
    and its end."""

    def check(self, profile, output, least):
        clocks = own_clocks(output)
        self.assertGreaterEqual(len(clocks), least)
        for tid, seconds in clocks.items():
            self.assert_on_cpu(profile.of_tid(tid)["on_s"], seconds, AFTER_LAST_LOOK_S)
        self.assertEqual(profile.totals["lost_records"], 0)
        for times in profile.times.values():
            self.assertEqual(times["unknown_s"], 0)

    def check_run(self, least, *command):
        _, profile, output = self.run_it(*command)
        self.check(profile, output, least)

    def test_threads(self):
        self.best_of_three(lambda: self.check_run(5, self.burn, "threads", "4", "2"))

    def test_forked_children(self):
        self.best_of_three(lambda: self.check_run(5, self.burn, "forks", "4", "2"))

    def test_exec_chain(self):
        """One thread, which was three programs: its clock goes on."""
        def check():
            _, profile, output = self.run_it("sh", "-c", f"exec sh -c 'exec {self.burn} split 2'")
            self.check(profile, output, 1)
            self.assertEqual(profile.threads[1]["comm"], "burn")
        self.best_of_three(check)

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
        self.best_of_three(self.check_sum)

    def check_sum(self):
        run, profile, _ = self.run_it(self.burn, "forks", "4", "0.8")
        with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
            cpu_s = float(re.search(r'"cpu_s": ([\d.]+)', file.read()).group(1))
        self.assert_on_cpu(profile.on_s(), cpu_s)


class Unprivileged(CpuCase):
    def test_another_user(self):
        if os.geteuid():
            self.skipTest("we are an ordinary user in all other tests already")
        nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        # The build may be below a folder that is closed to others, as /root is.
        program, _ = (shutil.copy(os.path.join(os.path.dirname(PROFTRACE), name), self.folder) for name in ("proftrace", "libproftrace.so"))

        def check():
            _, profile, output = self.run_it(self.burn, "split", "2", before=nobody, program=program)
            seconds = next(iter(own_clocks(output).values()))
            self.assert_on_cpu(profile.on_s(), seconds, AFTER_LAST_LOOK_S)
            self.assertGreater(profile.totals["samples"], 160)
        self.best_of_three(check)


if __name__ == "__main__":
    main()
