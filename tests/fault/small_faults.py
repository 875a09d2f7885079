# SPDX-License-Identifier: MIT
"""Small processes share a trace file: what is in it is as safe as in a file of their own, and they cost little."""
import glob
import json
import os
import signal
import struct
import subprocess

from harness import FaultCase, SETTINGS, clean_environment

HEAD_KIB = 8
OPTIONS_AT = 228  # in a head


class SmallProcesses(FaultCase):
    def files(self, suffix):
        return glob.glob(os.path.join(self.root, "latest", "*" + suffix))

    def test_killed_at_each_event(self):
        """0 to 219 events and SIGKILL: around 100 the process leaves the shared file. None is lost, none is there twice."""
        self.check(["small_processes", "events", "220"], modes=("sampled", "full"))

    def test_a_thread_that_nobody_saw_come(self):
        """It makes the process's own file while the first thread stores into the shared one."""
        self.check(["small_processes", "timer", "150"], modes=("sampled", "full"))

    def test_a_script_of_short_commands(self):
        commands = 300
        script = f"for i in $(seq {commands}); do (exit 3); done; :"
        trace = self.check(["/bin/bash", "-c", script], modes=("sampled",))
        self.assertEqual(len(trace.processes()), commands + 3) # bash itself, and $(seq) before and after its exec
        self.assertEqual([p["exit"] for p in trace.processes()].count("exit 3"), commands)
        if SETTINGS.baseline:
            return
        used_kib = sum(os.stat(path).st_blocks for path in self.files("")) / 2
        self.assertLess(used_kib, (commands + 3) * HEAD_KIB + 3 * 128)
        self.assertLess(len(self.files(".ptr")), 3)

    def test_a_long_command_line(self):
        """It does not fit the head, so there is a file for it; all of it is there."""
        words = [f"word{i}" for i in range(400)]
        trace = self.check(["/bin/true", *words], modes=("sampled",))
        self.assertEqual(trace.processes()[0]["argv"][1:], words)

    def test_another_machine_of_the_run(self):
        """Two machines that append to one file overwrite each other's heads, wherever it is not a disk of one: only who made the run appends."""
        self.check(["/bin/true"], modes=("sampled",))
        if SETTINGS.baseline:
            return
        run = os.path.realpath(os.path.join(self.root, "latest"))
        for written in (b"", b"01234567-89ab-cdef-0123-456789abcdef"):
            if written:
                with open(os.path.join(run, "session.bin"), "r+b") as page:
                    page.seek(32)
                    page.write(struct.pack("<Q", 10**18))  # another moment of its boot
                    page.seek(56)
                    page.write(written)
            before = len(self.files(".ptr"))
            for _ in range(3):
                subprocess.run(["/bin/true"], env=clean_environment(LD_PRELOAD=SETTINGS.lib, PROFTRACE_SESSION=run), check=True)
            self.assertEqual(len(self.files(".ptr")) - before, 3 if written else 0)
        info = subprocess.run([SETTINGS.proftrace, "info", "--json", run], capture_output=True, check=True)
        self.assertEqual(len(json.loads(info.stdout)["processes"]), 7)

    def test_a_clock_that_is_set(self):
        """Who begins later notes it, and a child of fork that did not join the run itself. Else it seemed to be in another time namespace."""
        if SETTINGS.baseline or not os.path.exists("/proc/self/ns/time"):
            self.skipTest("nothing to note")
        self.check(["/bin/true"], modes=("sampled",))
        run = os.path.realpath(os.path.join(self.root, "latest"))
        with open(os.path.join(run, "session.bin"), "r+b") as page:
            page.seek(32)
            [start_ns] = struct.unpack("<Q", page.read(8))
            page.seek(32)
            page.write(struct.pack("<Q", start_ns - 3600 * 10**9))
        subprocess.run(["/bin/bash", "-c", "(exit 3); :"], env=clean_environment(LD_PRELOAD=SETTINGS.lib, PROFTRACE_SESSION=run), check=True)
        [file] = self.files(".pts")
        with open(file, "rb") as small:
            heads = small.read()
        [first] = struct.unpack_from("<I", heads, 12)
        was_set = [struct.unpack_from("<I", heads, at + OPTIONS_AT)[0] >> 8 & 1 for at in range(first, len(heads), HEAD_KIB << 10)]
        self.assertEqual(was_set, [0, 1, 1])

    def test_each_is_read_alone(self):
        trace = self.check(["/bin/true"], modes=("sampled",))
        [file] = self.files(".pts")
        alone = subprocess.run([SETTINGS.proftrace, "info", "--json", file + "#0"], capture_output=True, check=True)
        self.assertEqual(json.loads(alone.stdout)["processes"][0]["pid"], trace.processes()[0]["pid"])
        none = subprocess.run([SETTINGS.proftrace, "info", file + "#7"], capture_output=True, text=True, check=False)
        self.assertEqual(none.returncode, 3, none.stderr)

    def test_a_file_that_is_mostly_a_hole(self):
        """As a disk image's tools make it, or somebody who wants to keep us busy: its pages are not read one by one."""
        trace = self.check(["/bin/true"], modes=("sampled",))
        [file] = self.files(".pts")
        os.truncate(file, 1 << 42)
        done = subprocess.run([SETTINGS.proftrace, "info", "--json", trace.run], capture_output=True, check=True, timeout=60)
        self.assertEqual(len(json.loads(done.stdout)["processes"]), len(trace.processes()))

    def test_budget_with_room_for_the_small_ones_only(self):
        """What a process cannot store because it may have no file of its own is counted."""
        children = 200
        trace = self.check(["small_processes", "fewer", str(children)], modes=("sampled",), options={"budget_mib": 1}, claims=False)
        events = trace.info()["events"]
        self.assertGreater(events["dropped"], 0)
        found = sorted((p["start_s"], p["events"]["recorded"] + p["events"]["dropped"]) for p in trace.processes())[1:]
        self.assertGreater(len(found), 8)
        for number, (_, counted) in enumerate(found):
            self.assertIn(counted - (children - number), range(1, 6)) # its start and its clock besides, more often on a busy machine

    def test_killed_while_it_moves(self):
        """Its own file is there, but its magic is not yet: the process is found in the shared one."""
        library = os.path.join(SETTINGS.hosts, "libproftrace_kill.so")
        if not os.path.exists(library):
            self.skipTest("the library with kill points is not built")
        self.addCleanup(setattr, SETTINGS, "lib", SETTINGS.lib)
        SETTINGS.lib = library
        environment = self.preload_environment(clean_environment(PROFTRACE_TEST_KILL="own:1"), "sampled")
        self.fresh_work()
        done = subprocess.run([self.host("steady_writer"), "3000"], cwd=self.work, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        trace = self.trace()
        self.assertEqual(len(trace.processes()), 1)
        self.assertEqual(trace.lost(), 0)
        self.assertGreater(trace.info()["events"]["recorded"], 90)
        self.assertEqual(len(self.files(".ptr")), 1)
