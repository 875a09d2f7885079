# SPDX-License-Identifier: MIT
"""T20 to T28: whatever bites, what the trace has and what it says that it has not are the program's own number of calls."""
import os
import platform
import re
import resource
import subprocess

from harness import FaultCase, SETTINGS, clean_environment, mounted, run_command, trace_has_processes

BOTH = ("full", "sampled")
ROUNDS = 20000
THREADS = 4
SPARE_MIB = 8  # a program that needs all that it may have is harmed by whoever needs some, too


class AccountFaults(FaultCase):
    def setUp(self):
        super().setUp()
        self.idle = {}

    def made_by_libc(self, words, mode, recorded):
        """What the host does besides its calls: the same host without rounds, with nothing in its way."""
        key = (mode, *words, *recorded)
        if key not in self.idle:
            root, self.root = self.root, os.path.join(self.scratch, "idle")
            trace = self.check(["counted_calls", "0", *words], modes=(mode,), claims=False, options=recorded)
            account = self.account(trace)
            self.idle[key], self.root = account["stored"], root
        return self.idle[key]

    def refusal(self):
        """What is said of a process that is in no trace; where no link could be made to its run, of the run that is named."""
        root = self.root
        for _ in range(2):
            done = subprocess.run([SETTINGS.proftrace, "report", root], capture_output=True, text=True, check=False)
            named = re.search(r"no latest run is marked in .*; name one: (.*)", done.stderr)
            root = named[1] if named else root
        self.assertEqual(done.returncode, 3, done.stderr)
        return done.stderr

    def exact(self, *words, rounds=ROUNDS, modes=BOTH, root=None, may_refuse=None, **how):
        """The account of counted_calls; of a process that is not recorded, the reason. Returns the last trace."""
        if SETTINGS.baseline:
            self.skipTest("baseline")
        trace = None
        for mode in modes:
            with self.subTest(words=words, mode=mode):
                recorded = {name: value for name, value in how.get("options", {}).items() if name == "io"}
                libc = self.made_by_libc(words, mode, recorded)
                self.root = root or os.path.join(self.scratch, "traces")
                trace = self.check(["counted_calls", str(rounds), *words], modes=(mode,), claims=False, **how)
                made = int(re.search(rb"made (\d+)", self.shown.out)[1]) + libc
                if may_refuse and not (trace and trace_has_processes(trace)):
                    self.assertRegex(self.refusal(), may_refuse)
                else:
                    account = self.account(trace)
                    self.assertEqual((account["counted"], account["stored"]), (made, made), trace.info()["events"])
        return trace

    def need_root(self):
        if os.geteuid():
            self.skipTest("needs root")

    def need_populate(self):
        if tuple(int(part) for part in platform.release().split("-", maxsplit=1)[0].split(".")[:2]) < (5, 14):
            self.skipTest("the kernel cannot be asked for pages (Linux 5.14)")

    def limited(self, which, number):
        return {"before_exec": lambda: resource.setrlimit(which, (number, number))}

    def test_t20_full_disks(self):
        """From one on which not even a small process has a place to one that is full when the ring has begun."""
        for size in ("64k", "100k", "160k", "300k", "600k", "1m", "4m"):
            with self.subTest(size=size), mounted(os.path.join(self.scratch, "disk" + size), "-t", "tmpfs", "-o", f"size={size}", "none") as disk:
                self.exact(str(THREADS), root=os.path.join(disk, "traces"), options={"budget_mib": 64}, may_refuse="no room")

    def test_t20_more_blocks_than_a_small_process_can_count(self):
        """Its counters hold 2^24 of a size; the wide ones lie in a file of its own, which it does not get."""
        with mounted(os.path.join(self.scratch, "disk"), "-t", "tmpfs", "-o", "size=100k", "none") as disk:
            self.exact("0", "heap", root=os.path.join(disk, "traces"), modes=("sampled",), options={"budget_mib": 64})

    def test_head_that_another_thread_moves(self):
        """What both threads added to one word at once was lost from totals that are exact: without io, and of threads that libc makes."""
        for words, options in ((("0", "beside"), {"io": 0}), (("0", "beside-timer"), {}), (("0", "beside-timer"), {"io": 0})):
            for _ in range(8):
                self.exact(*words, modes=("sampled",), options=options)

    def test_t20_no_inodes(self):
        for inodes in (3, 4, 5):
            with self.subTest(inodes=inodes), mounted(os.path.join(self.scratch, f"disk{inodes}"), "-t", "tmpfs", "-o",
                                                      f"size=4m,nr_inodes={inodes}", "none") as disk:
                self.exact(str(THREADS), root=os.path.join(disk, "traces"), may_refuse="no room|Nothing|nothing|no trace")

    def test_t21_budgets(self):
        for budget_mib in (1, 2, 3):
            self.exact("12", options={"budget_mib": budget_mib}, rounds=ROUNDS // 2)

    def test_t26_ring_that_wrapped(self):
        trace = self.exact(str(THREADS), rounds=10 * ROUNDS, modes=("full",), options={"ring_mib": 1})
        self.assertGreater(trace.info()["events"]["overwritten"], 0)

    def test_t22_limits_of_the_size_of_files(self):
        for kib in (40, 300, 600, 1024, 4096):
            self.exact(str(THREADS), may_refuse="limit of the size of files", **self.limited(resource.RLIMIT_FSIZE, kib << 10))

    def test_t24_few_descriptors(self):
        for number in (5, 6, 16):
            self.exact(str(THREADS), **self.limited(resource.RLIMIT_NOFILE, number))

    def works_alone(self, **how):
        """Whether the host ends well within so little; it takes a moment, and what hangs there (AssertionError) does not work."""
        self.fresh_work()
        try:
            return run_command([self.host("counted_calls"), "2000", "2"], self.work, clean_environment(), timeout=30, **how).status == 0
        except (OSError, AssertionError):
            return False

    def test_t23_limits_of_memory(self):
        """From below what we need to what is used up when threads come."""
        for which, most in ((resource.RLIMIT_DATA, range(17, 60, 6)), (resource.RLIMIT_AS, range(17, 120, 9))):
            for mib in most:
                if self.works_alone(**self.limited(which, (mib - SPARE_MIB) << 20)):
                    with self.subTest(limit=which, mib=mib):
                        self.exact("2", rounds=2000, may_refuse="limits of data or address space", **self.limited(which, mib << 20))

    def test_t28_rights_given_up(self):
        self.need_root()
        self.need_populate()
        for way in ("setuid", "chroot", "both"):
            self.exact(str(THREADS), way)
            self.exact(str(THREADS), way, "late")

    def test_t28_on_a_disk_that_fills(self):
        self.need_root()
        self.need_populate()
        with mounted(os.path.join(self.scratch, "disk"), "-t", "tmpfs", "-o", "size=1m", "none") as disk:
            self.exact(str(THREADS), "setuid", root=os.path.join(disk, "traces"), options={"budget_mib": 64})

    def test_f1_sandboxes(self):
        """The filter that comes at once meets a process whose few events lie among those of other small processes."""
        for way in ("filter", "strict"):
            self.exact(str(THREADS), way)
            trace = self.exact(str(THREADS), way, "late")
            advice = next(finding for finding in trace.report()["findings"] if finding["rule"] == "events_lost")["advice"]
            self.assertIn("sandbox", advice)
        trace = self.exact("0", "filter", modes=("full",), rounds=10 * ROUNDS)
        self.assertEqual(list(trace.info()["events"]["drop_reasons"]), ["no_space"])
        advice = next(finding for finding in trace.report()["findings"] if finding["rule"] == "events_lost")["advice"]
        self.assertIn("sandbox", advice)  # and not: a larger ring

    def test_t30_children(self):
        self.exact("0", "child")
        self.exact("0", "child", options={"budget_mib": 1})
