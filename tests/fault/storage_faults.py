# SPDX-License-Identifier: MIT
"""T20, T22, T24, T26 (and C10, C11 of the catalogue): disks that are full, limits that bite, folders that cannot be written."""
import os
import resource
import shutil
import subprocess

from harness import FaultCase, SETTINGS, clean_environment, mounted, run_command

BOTH = ("full", "sampled")
AREA_BYTES = 90 << 10  # what a new thread asks for, rounded up


class StorageFaults(FaultCase):
    def mounted(self, *mount, where=None):
        return mounted(where or os.path.join(self.scratch, "disk"), *mount)

    def full_disk(self, disk, mode, rounds="60000"):
        """The host with its trace on a disk that is too small: it must not notice; what is not stored must be counted."""
        self.root = os.path.join(disk, "traces")
        # Left to itself the session takes a tenth of the free space; with a budget beyond the disk it meets its end.
        for budget_mib in (0, 64):
            for extra in ([], ["no-file"]):
                with self.subTest(mode=mode, budget_mib=budget_mib, file=not extra):
                    self.check(["steady_writer", rounds, *extra], modes=(mode,), claims=False, options={"budget_mib": budget_mib})

    def test_t20_tmpfs_of_4_mib(self):
        with self.mounted("-t", "tmpfs", "-o", "size=4m", "none") as disk:
            for mode in BOTH:
                self.full_disk(disk, mode)

    def test_t20_growth_refused_to_many_threads_at_once(self):
        """What two threads wanted at once and neither got was taken for the lost end of the file: intact traces were "cut short"."""
        program = ("import os, threading, time\nend = time.monotonic() + 3\n"
                   "def work():\n    while time.monotonic() < end: os.write(1, b'')\n"
                   "threads = [threading.Thread(target=work) for i in range(8)]\n"
                   "[thread.start() for thread in threads]\n[thread.join() for thread in threads]\n")
        with self.mounted("-t", "tmpfs", "-o", "size=2m", "none") as disk:
            self.root = os.path.join(disk, "traces")
            trace = self.check(["/usr/bin/python3", "-c", program], modes=BOTH, claims=False, options={"budget_mib": 64})
            self.assertFalse(trace.info()["events"]["truncated"])

    def test_t20_tmpfs_of_one_page(self):
        with self.mounted("-t", "tmpfs", "-o", "size=4k", "none") as disk:
            self.full_disk(disk, "full", "5000")

    def test_t20_tmpfs_without_inodes(self):
        with self.mounted("-t", "tmpfs", "-o", "size=4m,nr_inodes=2", "none") as disk:
            self.full_disk(disk, "full", "5000")

    def test_t20_tmpfs_that_fills_while_we_grow(self):
        """The program itself fills the disk to the last byte; then the trace may not take a page that is not its own."""
        filler = ("import os, sys, ctypes\n"
                  "f = os.open(sys.argv[1] + '/filler', os.O_CREAT | os.O_WRONLY)\n"
                  "try:\n    while True: os.write(f, b'x' * 4096)\n"
                  "except OSError as e: print('full', e.errno)\n"
                  "b = [bytes(5000 + i % 900) for i in range(100000)]\n"
                  "for i in range(20000): os.write(1, b'')\n"
                  "print('alive', len(b)); os.unlink(sys.argv[1] + '/filler')\n")
        with self.mounted("-t", "tmpfs", "-o", "size=6m", "none") as disk:
            self.root = os.path.join(disk, "traces")
            self.check(["/usr/bin/python3", "-c", filler, disk], modes=BOTH, claims=False)

    def test_session_budget_that_a_crowd_of_processes_uses_up(self):
        """The first segment of each file counts too: a storm of processes must not fill the disk, and must be mentioned."""
        storm = ["/bin/bash", "-c", "for i in {1..60}; do /bin/true; done; echo done"]
        trace = self.check(storm, modes=("sampled",), claims=False, options={"budget_mib": 1})
        sizes = sum(os.path.getsize(os.path.join(trace.run, file)) for file in trace.files())
        self.assertLessEqual(sizes, 1 << 20)
        self.assertTrue(any("were not recorded" in note for note in trace.report()["trace_quality"]["notes"]))

    def test_session_budget_in_a_container(self):
        """Where process_vm_readv is refused, what is left of the budget is read in place: nobody was ever told that it was used up."""
        program = "import os\nfor i in range(300000): os.write(1, b'')\nprint('done')"
        trace = self.check([self.host("filtered_start"), "refuse", "310", "fork", "/usr/bin/python3", "-c", program], options={"budget_mib": 1}, claims=False)
        self.assertLessEqual(sum(os.path.getsize(os.path.join(trace.run, file)) for file in trace.files()), 1 << 20)

    def test_session_budget_that_a_crowd_of_threads_uses_up(self):
        """A request is halved until it fits. Half of an odd number of pages left the file with an end where nothing could be mapped
        any more; and threads that found no room were told that there were no slots."""
        for mode, budget_mib in (("sampled", 1), ("sampled", 3), ("sampled", 6), ("full", 3)):
            with self.subTest(mode=mode, budget_mib=budget_mib):
                trace = self.check(["crowd_at_a_condition", "100", "1"], modes=(mode,), claims=False, options={"budget_mib": budget_mib})
                sizes = [os.path.getsize(os.path.join(trace.run, file)) for file in trace.files()]
                self.assertEqual([size % 4096 for size in sizes], [0] * len(sizes))
                self.assertGreater(sum(sizes), (budget_mib << 20) - (256 << 10), "the budget is used")
                self.assertEqual(list(trace.info()["events"]["drop_reasons"]), ["no_room_for_thread"])

    def test_session_budget_with_room_for_threads_but_not_for_the_ring(self):
        """That a thread's wish for a segment of the ring was refused is no reason to refuse a smaller area to threads that come then."""
        program = ("import os, sys, threading\n"
                   "def meet(count):\n"
                   "    met = threading.Barrier(count + 1)\n"
                   "    def work():\n        os.write(1, b''); met.wait()\n"
                   "    threads = [threading.Thread(target=work) for i in range(count)]\n"
                   "    [thread.start() for thread in threads]\n    met.wait()\n    [thread.join() for thread in threads]\n"
                   "meet(int(sys.argv[1]))\n"
                   "for i in range(1000000): os.write(1, b'')\n"
                   "meet(int(sys.argv[1]) + 12)\nprint('met')")
        dropped = []
        for threads in (1, 4, 5, 4, 5, 6):  # of 4 and 5 a segment of the ring found no room, but an area does
            with self.subTest(threads=threads):
                trace = self.check(["/usr/bin/python3", "-c", program, str(threads)], modes=("sampled",), claims=False,
                                   options={"budget_mib": 1})
                used = sum(os.path.getsize(os.path.join(trace.run, file)) for file in os.listdir(trace.run))
                reasons = trace.info()["events"]["drop_reasons"]
                if reasons:
                    dropped.append(threads)
                    self.assertGreater(used + AREA_BYTES, 1 << 20, "there was room")
        self.assertTrue(dropped, "the budget was never used up: nothing was tested")

    def test_t20_disk_that_has_room_again(self):
        with self.mounted("-t", "tmpfs", "-o", "size=6m", "none") as disk:
            self.root = os.path.join(disk, "traces")
            self.check(["disk_comes_back", os.path.join(disk, "filler")], modes=BOTH, options={"budget_mib": 64})

    def test_t20_ext4_image_that_is_full(self):
        self.need("mkfs.ext4")
        image = os.path.join(self.scratch, "image")
        with open(image, "wb") as f:
            f.truncate(6 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, capture_output=True)
        with self.mounted("-o", "loop", image) as disk:
            for mode in BOTH:
                self.full_disk(disk, mode)

    def test_t20_real_programs_on_a_full_disk(self):
        programs = {
            "python3": ["/usr/bin/python3", "-c", "import json; print(len(json.dumps(list(range(100000)))))"],
            "perl": ["perl", "-e", "my @a = map { 'x' x $_ } 1..3000; print scalar(@a), qq(\n)"],
            "git": ["bash", "-c", "git init -q . && git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -q"
                    " --allow-empty -m one --date='2020-01-01T00:00:00Z' && git log --format=%s"],
            "node": ["node", "-e", "console.log([...Array(100000).keys()].length)"],
        }
        with self.mounted("-t", "tmpfs", "-o", "size=1m", "none") as disk:
            self.root = os.path.join(disk, "traces")
            for name, command in programs.items():
                with self.subTest(program=name):
                    if shutil.which(command[0]) and shutil.which(name):
                        self.check(command, modes=("full",), claims=False)

    def limited(self, limit):
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    def test_t22_file_size_limit_of_the_program(self):
        for limit in ("0", "1024", "102400"):
            self.check(["file_size_limit", limit], modes=BOTH)
        self.check(["file_size_limit", "1024", "default"], modes=BOTH, status=-25)

    def test_t22_file_size_limit_from_outside(self):
        for limit in (0, 1024, 100 * 1024, 1 << 20):
            with self.subTest(limit=limit):
                self.check(["file_size_limit", str(min(limit, 1024))], before_exec=self.limited(limit), claims=False)

    def test_t24_few_descriptors(self):
        self.check(["few_descriptors", "3"], modes=BOTH)
        for limit in (4, 16, 1024): # with 3 the loader cannot even open libc
            with self.subTest(limit=limit):
                self.check(["few_descriptors"], modes=BOTH, claims=limit > 16, before_exec=lambda limit=limit:
                           resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))

    def test_t26_ring_that_wrapped_many_times(self):
        for mode in BOTH:
            trace = self.check(["steady_writer", "1000000"], modes=(mode,), options={"ring_mib": 1})
            self.assertEqual(trace.calls("io_write"), 1000128)
            written = sum(1 for _ in trace.events('"io_write"'))
            if mode == "full":
                self.assertGreater(trace.lost(), 0, "the ring must have wrapped")
                for what in ("allocs", "frees"):  # each is there, and none twice: account_faults has it to the last one
                    self.assertGreaterEqual(trace.heap(what), 4000000)
                    self.assertLessEqual(trace.heap(what), 4000000 + 100)
            self.assertLessEqual(written, 1000128)

    def test_folders_that_cannot_be_written(self):
        """C11: nothing is said, nothing is traced, the program runs."""
        for folder in ("/nonexistent/folder", "/etc/passwd/x", "/proc", "/dev/null"):
            with self.subTest(folder=folder):
                self.check(["steady_writer", "1000"], claims=False, options={"dir": folder})

    def test_folder_of_somebody_else(self):
        if os.geteuid():
            self.skipTest("needs root")
        os.makedirs(self.root, mode=0o700)

        def become_nobody():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        def setup(work):
            os.chmod(work, 0o777)
            os.chmod(os.path.dirname(work), 0o755)
        self.check(["steady_writer", "1000"], claims=False, before_exec=become_nobody, setup=setup)

    def test_trace_that_is_removed_while_it_grows(self):
        """C2: unlinking is harmless."""
        if SETTINGS.baseline:
            self.skipTest("baseline")
        environment = self.preload_environment(clean_environment(), "full")
        self.fresh_work()
        script = ("import os, shutil\nb = [bytes(600 + i % 900) for i in range(200000)]\n"
                  "shutil.rmtree(os.environ['PROFTRACE_DIR'])\nb = [bytes(600 + i % 900) for i in range(300000)]\nprint(len(b))")
        result = run_command(["/usr/bin/python3", "-c", script], self.work, environment)
        self.assertEqual((result.out, result.err, result.status), (b"300000\n", b"", 0))

    # ---- what is said of it ----

    def advice(self, trace):
        """The finding about lost events: what it says to do, and its evidence."""
        finding = next(finding for finding in trace.report()["findings"] if finding["rule"] == "events_lost")
        return finding["advice"], finding["evidence"]

    def test_the_reason_of_a_loss_is_the_true_one(self):
        """"Totals are exact all the same" stood where whole threads were in no total, and a larger ring was the advice against any reason."""
        trace = self.check(["crowd_at_a_condition", "100", "1"], modes=("sampled",), claims=False, options={"budget_mib": 1})
        advice, evidence = self.advice(trace)
        self.assertIn("PROFTRACE_BUDGET_MIB", advice)
        self.assertNotIn("exact", advice)
        self.assertEqual(evidence["in_no_total_events"], trace.info()["events"]["dropped"])
        program = "import os\nfor i in range(300000): os.stat('/')\n"
        made = self.check(["/usr/bin/python3", "-c", program], modes=("full",), claims=False).calls("io_stat")
        trace = self.check(["/usr/bin/python3", "-c", program], modes=("full",), claims=False, before_exec=self.limited(1 << 20))
        advice, evidence = self.advice(trace)
        self.assertIn("ulimit -f", advice)
        self.assertIn("Totals are exact", advice)
        self.assertNotIn("in_no_total_events", evidence)
        self.assertGreaterEqual(made, 300000)
        self.assertEqual(trace.calls("io_stat"), made)

    def refused(self, **how):
        result = run_command(["/bin/true"], "/", self.preload_environment(clean_environment(), "sampled"), **how)
        self.assertEqual((result.out, result.err, result.status), (b"", b"", 0))
        done = subprocess.run([SETTINGS.proftrace, "report", self.root], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3)
        return done.stderr

    def test_runs_without_any_trace_say_why(self):
        if SETTINGS.baseline:
            self.skipTest("baseline")
        self.assertIn("session.bin is empty", self.refused(before_exec=self.limited(0)))
        self.assertIn("limit of the size of files is too small", self.refused(before_exec=self.limited(40 << 10)))
        with self.mounted("-t", "tmpfs", "-o", "size=64k", "none", where=self.root):
            self.root = os.path.join(self.root, "traces")
            self.assertIn("no room for their trace files", self.refused())

    def test_session_of_somebody_else(self):
        """Whoever owns the folder could truncate what is mapped and exchange what is opened."""
        if os.geteuid() or SETTINGS.baseline:
            self.skipTest("needs root")
        foreign = os.path.join(self.scratch, "foreign")
        os.mkdir(foreign, 0o700)
        os.chown(foreign, 65534, 65534)
        self.check(["steady_writer", "1000"], env={"PROFTRACE_SESSION": foreign})
        self.assertEqual(os.listdir(foreign), [])
