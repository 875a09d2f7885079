# SPDX-License-Identifier: MIT
"""T23, T56: limits of memory that leave no room for us, and what we add to core files. And pages of ours that go away."""
import os
import platform
import resource
import shutil

from harness import SETTINGS, FaultCase, clean_environment, run_command

# What the kernel writes into a core file: private memory that may be written, but for what was marked with MADV_DONTDUMP.
DUMPED = r"""
import re
total = 0
for text in re.split(r'(?m)^(?=[0-9a-f]+-[0-9a-f]+ )', open('/proc/self/smaps').read())[1:]:
    flags = re.search(r'VmFlags:(.*)', text).group(1).split()
    if 'wr' in flags and 'sh' not in flags and 'dd' not in flags:
        total += int(re.search(r'Size: +(\d+)', text).group(1))
print(total)
"""


class MemoryFaults(FaultCase):
    def limited(self, which, bytes_):
        return lambda: resource.setrlimit(which, (bytes_, bytes_))

    def test_t23_data_limits_below_what_we_need(self):
        """Tables of 2.3 MB in the library were charged to the program before its main: libc could not be mapped."""
        programs = [["/bin/true"], ["/bin/bash", "-c", "x=$(seq 1 2000); for i in {1..50}; do /bin/true; done; echo ${#x}"],
                    ["/bin/sh", "-c", "ulimit -d 2000; /bin/true; /bin/ls -d /; echo $?"]]
        for kib in (800, 1200, 2000, 4000, 8000, 15000, 17000):
            for program in programs:
                if run_command(program, "/", clean_environment(), before_exec=self.limited(resource.RLIMIT_DATA, kib << 10)).status:
                    continue
                with self.subTest(kib=kib, program=program[-1]):
                    self.check(program, claims=False, before_exec=self.limited(resource.RLIMIT_DATA, kib << 10))

    def test_t23_processes_that_were_left_their_memory_are_counted(self):
        """Each is a copy of bash first, and then a program."""
        trace = self.check(["/bin/bash", "-c", "ulimit -d 2000; /bin/true; /bin/true; echo done"], claims=False)
        notes = trace.report()["trace_quality"]["notes"]
        self.assertTrue(any(note.startswith("4 processes were not recorded") for note in notes), notes)

    def test_t56_core_files(self):
        """A core file had 4 MB of ours in it."""
        self.fresh_work()
        command = ["/usr/bin/python3", "-c", DUMPED]
        without = run_command(command, self.work, clean_environment())
        for mode in ("sampled", "full"):
            with self.subTest(mode=mode):
                result = run_command(command, self.work, self.preload_environment(clean_environment(), mode))
                self.assertEqual((result.status, result.err), (0, b""))
                self.assertLess(int(result.out) - int(without.out), 0 if SETTINGS.baseline else 1024)

    def test_t56_a_core_file(self):
        with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as f:
            if f.read().strip() != "core" or not shutil.which("bash"):
                self.skipTest("core files do not go into the working folder here")
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        if most != resource.RLIM_INFINITY and most < 64 << 20:
            self.skipTest("core files are not allowed here (ulimit -c)")
        sizes = []
        for environment in (clean_environment(), self.preload_environment(clean_environment(), "sampled")):
            self.fresh_work()
            run_command(["/bin/bash", "-c", "kill -ABRT $$"], self.work, environment,
                        before_exec=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)))
            sizes += [os.path.getsize(os.path.join(self.work, name)) for name in os.listdir(self.work) if name.startswith("core")]
            if not sizes:
                self.skipTest("the kernel keeps no core file here")
        self.assertEqual(len(sizes), 2)
        self.assertLess(sizes[1] - sizes[0], 1 << 20, sizes)

    def notes(self, trace):
        return trace.report()["trace_quality"]["notes"]

    def truncating(self, which):
        return ("import glob, os, subprocess, sys\n"
                f"files = lambda: glob.glob(os.environ.get('PROFTRACE_SESSION', '/nowhere') + '/{which}')\n"
                "def work():\n    for i in range(100000): os.stat('/')\n    blocks = [bytes(5000 + i % 900) for i in range(20000)]\n"
                "    if not os.fork(): os.stat('/'); os._exit(7)\n    print(os.wait()[1])\n")

    def test_session_page_that_is_truncated(self):
        """Any process of a session could kill all others: each stored into session.bin. It is no memory any more."""
        stats = []
        for bytes_ in (4096, 0):  # as it was, and truncated
            program = self.truncating("session.bin") + f"work()\n[os.truncate(f, {bytes_}) for f in files()]\nwork()\nprint('done')\n"
            trace = self.check(["/usr/bin/python3", "-c", program], modes=("sampled", "full"), claims=False)
            self.assertEqual(trace.lost(), 0)
            stats.append(trace.calls("io_stat"))
        self.assertGreaterEqual(stats[0], 200000)
        self.assertEqual(stats[1], stats[0])

    def has_populate(self):
        if tuple(int(part) for part in platform.release().split("-", maxsplit=1)[0].split(".")[:2]) < (5, 14):
            self.skipTest("the kernel cannot be asked for pages (Linux 5.14)")

    def test_trace_file_that_its_own_process_truncates(self):
        self.has_populate()
        for how in ("os.truncate(f, 0)", "open(f, 'w').close()", "os.ftruncate(os.open(f, os.O_RDWR), 8192)"):
            with self.subTest(how=how):
                program = self.truncating("*.ptr") + f"work()\nfor f in files(): {how}\nwork()\nprint('done')\n"
                trace = self.check(["/usr/bin/python3", "-c", program], modes=("sampled", "full"), claims=False)
                self.assertTrue(any("truncated" in note for note in self.notes(trace)), self.notes(trace))
                self.assertGreaterEqual(trace.calls("io_stat"), 1, "the children that came later")

    def test_file_of_small_processes_that_one_of_them_truncates(self):
        """All small processes that live then lose what they stored; the ones that come later have files of their own. The shell waits by then:
        what stores in the moment in which another process truncates is the race that is left (decision 0031)."""
        self.has_populate()
        for how in (": > $f", "truncate -s 8192 $f"):
            with self.subTest(how=how):
                script = (f"(sleep 0.5; for f in $PROFTRACE_SESSION/*.pts; do {how}; done; (exit 3)); "
                          "for i in {1..20}; do (exit 4); done; /bin/true; echo $?; (exit 5); echo $?")
                trace = self.check(["/bin/bash", "-c", script], modes=("sampled",), claims=False)
                self.assertEqual([p["exit"] for p in trace.processes()].count("exit 4"), 20)

    def test_trace_file_that_is_truncated_while_the_program_waits(self):
        self.has_populate()
        program = (self.truncating("*.ptr") + "work()\nsys.stdout.flush()\n"
                   "subprocess.run(['/bin/sh', '-c', 'sleep 0.5; for f in \"$@\"; do : > $f; done; sleep 0.2', 'sh', *files()],\n"
                   "               env={'PATH': '/usr/bin:/bin'}, stdout=subprocess.DEVNULL)\nwork()\nprint('done')\n")
        trace = self.check(["/usr/bin/python3", "-c", program], modes=("sampled",), claims=False)
        self.assertTrue(any("truncated" in note for note in self.notes(trace)), self.notes(trace))
