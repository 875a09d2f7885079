# SPDX-License-Identifier: MIT
"""Who debugs a traced program sees the program: no child of ours, no stop of ours, and where each thread is."""
import os
import re
import subprocess
import sys

from harness import FaultCase, clean_environment, run_command

BOTH = ("full", "sampled")
# What a debugger says of threads comes when it comes, and no two runs have the same numbers.
CHANCE = re.compile(r"^(\[(New Thread|Thread 0x|Switching to|Thread debugging).*|Using host libthread_db.*|)\n", re.M)


class DebuggerFaults(FaultCase):
    def setUp(self):
        super().setUp()
        self.need("gdb")

    def gdb(self, commands, mode=None):
        """What gdb prints of the host, which alone has the library, and after it what the host prints."""
        # A file of its own: a parent that goes on beside the debugged child prints in the middle of gdb's lines.
        said = os.path.join(self.scratch, "said")
        with open(said, "w"):
            pass
        settings = ["set confirm off", "set startup-with-shell off", "set debuginfod enabled off", f"set inferior-tty {said}"]
        if mode:
            traced = self.preload_environment({}, mode)
            settings += [f"set environment {name} {value}" for name, value in traced.items()]
        argv = ["gdb", "-batch", "-nx", *(word for command in [*settings, *commands] for word in ("-ex", command)), self.host("debugged")]
        self.fresh_work()
        result = run_command(argv, self.work, clean_environment())
        with open(said, errors="replace") as file:
            out = result.out.decode(errors="replace") + "\n" + file.read()
        if "ptrace" in out + result.err.decode(errors="replace"):
            self.skipTest("nothing may be traced here")
        return out

    def same(self, *commands):
        """The same lines with and without the library; returns them."""
        def plain(out):
            return sorted(re.sub(r"0x[0-9a-f]+|(?m:^#\d+)|(?<=process )\d+|(?<=LWP )\d+", "N", CHANCE.sub("", out)).splitlines())
        without = self.gdb(commands)
        for mode in BOTH:
            with self.subTest(mode=mode):
                self.assertEqual(plain(self.gdb(commands, mode)), plain(without))
                self.check_claims(self.trace(), without, mode)
        return without

    def test_a_program_that_is_run(self):
        """gdb said "Detaching after vfork" whenever the trace file grew."""
        out = self.same("run")
        self.assertEqual(out.count("Detaching after vfork"), 1, out)
        self.assertIn("exited normally", out)

    def test_breakpoints(self):
        out = self.same("break pause_here", "run", "bt", "continue", "bt", "finish", "delete", "continue")
        self.assertEqual(out.count("hit Breakpoint 1"), 2, out)
        self.assertIn("exited normally", out)

    def test_catchpoints(self):
        """The first stop was at a child of ours."""
        out = self.same("catch vfork", "catch fork", "run", "bt -1", "continue", "bt -1", "continue")
        self.assertEqual((out.count("Catchpoint 1 (vforked"), out.count("Catchpoint 2 (forked"), out.count("exited normally")), (1, 1, 1), out)

    def test_where_no_run_can_be_made(self):
        """The programs that it starts are looked at all the same: strace saw each child that does."""
        self.need("strace")
        traced = self.preload_environment({}, "sampled") | {"PROFTRACE_DIR": "/dev/null/none"}
        settings = [word for name, value in traced.items() for word in ("-E", f"{name}={value}")]
        self.fresh_work()
        said = os.path.join(self.scratch, "calls")
        code = "import subprocess; subprocess.run(['/bin/true'], check=True)"
        done = run_command(["strace", "-f", "-o", said, "-e", "trace=execve", *settings, sys.executable, "-S", "-c", code], self.work, clean_environment())
        if done.status and b"ptrace" in done.err.lower():
            self.skipTest("nothing may be traced here")
        self.assertEqual((done.status, done.out), (0, b""))
        with open(said, errors="replace") as calls:
            self.assertEqual(len({line.split()[0] for line in calls}), 2)

    def test_children_that_are_followed(self):
        """gdb followed the first child of ours, which ended at once: nothing was left to debug."""
        out = self.same("set follow-fork-mode child", "break pause_here if number == 3", "run", "delete", "continue")
        self.assertRegex(out, "number=(number@entry=)?3")
        self.assertIn("exited with code 03", out)

    def test_where_each_thread_is(self):
        """A thread that was stopped in the library had a backtrace that ended there."""
        stops = ["break pause_here", "run"] + ["thread apply all bt", "continue"] * 4
        for mode in BOTH:
            with self.subTest(mode=mode):
                self.assert_whole(self.gdb(stops, mode), 4)

    def assert_whole(self, out, least):
        self.assertNotIn("Backtrace stopped", out)
        stacks = re.split(r"^Thread \d+ \(", out, flags=re.M)[1:]
        self.assertGreaterEqual(len(stacks), least)
        for stack in stacks:
            self.assertRegex(stack, r"(?m)^#\d+ .*\b(_start|main|clone3?|thread_start) ?\(")

    def test_a_running_program(self):
        for mode in BOTH:
            with self.subTest(mode=mode):
                self.fresh_work()
                with subprocess.Popen([self.host("debugged"), "wait"], cwd=self.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      env=self.preload_environment(clean_environment(), mode)) as host:
                    looks = [run_command(["gdb", "-batch", "-nx", "-ex", "set debuginfod enabled off", "-p", str(host.pid), "-ex",
                                          "thread apply all bt", "-ex", "detach"], self.work, clean_environment()) for _ in range(2)]
                    out, _ = host.communicate(timeout=60)
                if b"ptrace" in looks[0].err:
                    self.skipTest("nothing may be traced here")
                for look in looks:
                    self.assert_whole(look.out.decode(errors="replace"), 1)
                self.assertEqual(host.returncode, 0)
                self.check_claims(self.trace(), out.decode(), mode)

    def test_a_tracer_that_translates_paths(self):
        """proot: the trace file lies where only its tracer finds it. A child that the tracer does not see does not find it either."""
        self.need("proot")
        for mode in BOTH:
            with self.subTest(mode=mode):
                environment = self.preload_environment({}, mode)
                environment["PROFTRACE_DIR"] = "/elsewhere"
                self.fresh_work()
                result = run_command(["proot", "-r", "/", "-b", f"{self.root}:/elsewhere", "env",
                                      *(f"{name}={value}" for name, value in environment.items()), self.host("debugged")],
                                     self.work, clean_environment())
                if result.status:
                    self.skipTest(f"proot does not work here: {result.err[:200]}")
                self.check_claims(self.trace(), result.out.decode(), mode)
