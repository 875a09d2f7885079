# SPDX-License-Identifier: MIT
"""T30-T34, T38: forks of all kinds, no thread of ours, vfork, spawn, exec environments, ways to die."""
import os
import shutil
import signal
import subprocess

from harness import FaultCase, Result, machine, slow

BOTH = ("full", "sampled")


class ProcessFaults(FaultCase):
    def test_t30_fork_ways(self):
        self.check(["fork_ways"], modes=BOTH, status=7)

    def test_t30_chain_of_forks(self):
        """Each kept what its parents had of ours: half a megabyte of address space and several mappings, until there may be no more."""
        self.check(["fork_chain", "200", "6000"], modes=BOTH)
        self.check(["fork_chain", "30", "200000"], options={"minute_ms": 1})  # with segments of the ring, and of minutes

    def test_t31_main_thread_leaves_first(self):
        self.check(["no_thread_of_ours", "last"], modes=BOTH)

    def test_t31_user_namespace(self):
        self.check(["no_thread_of_ours", "namespace"], modes=BOTH)

    def test_t31_credentials_reach_every_thread(self):
        if os.geteuid():
            self.skipTest("needs root")
        self.check(["no_thread_of_ours", "credentials"], modes=BOTH)

    def test_t31_child_forked_from_a_thread_ends(self):
        self.check(["no_thread_of_ours", "fork-last"], modes=BOTH)

    def test_t31_python_forks_from_a_thread(self):
        script = ("import os, threading\n"
                  "def run():\n    pid = os.fork()\n    if pid == 0: os._exit(5)\n    print(os.waitpid(pid, 0)[1] >> 8)\n"
                  "t = threading.Thread(target=run); t.start(); t.join()\n"
                  "def child():\n"
                  "    t = threading.Thread(target=lambda: print('end of child', flush=True)); t.start(); t.join()\n"
                  "import multiprocessing as m\n"
                  "for way in ('fork', 'spawn', 'forkserver'):\n"
                  "    c = m.get_context(way); p = c.Process(target=print, args=('from', way), kwargs={'flush': True})\n"
                  "    p.start(); p.join(); print(p.exitcode, flush=True)\n")
        self.check(["/usr/bin/python3", "-c", script], modes=BOTH)

    def test_t30_child_of_a_program_that_overwrites_its_environment(self):
        self.need("perl")
        script = '$0 = "w"; if (!fork) { open(my $f, "<", "/dev/null"); exit 0 } wait'
        trace = self.check(["perl", "-e", script], modes=BOTH, claims=False, options={"stage": "train"})
        self.assertEqual([process["stage"] for process in trace.processes()], ["train", "train"])

    def test_t32_vfork_storm(self):
        self.check(["vfork_storm", "100"], modes=BOTH)

    @slow
    def test_t32_vfork_storm_long(self):
        self.check(["vfork_storm", "10000"], modes=BOTH, timeout=600)

    def test_t32_forkpty_beside_another_fork(self):
        """libc's forkpty does not come to a library's fork, nor to ours."""
        self.need("gcc")

        def setup(work):
            with open(f"{work}/fork.c", "w", encoding="ascii") as f:
                f.write("#define _GNU_SOURCE\n#include <dlfcn.h>\nint fork(void) { return ((int (*)(void))dlsym(RTLD_NEXT, \"fork\"))(); }\n")
            subprocess.run(["gcc", "-shared", "-fPIC", f"{work}/fork.c", "-o", f"{work}/fork.so", "-ldl"], check=True)
        script = "import os\npid, fd = os.forkpty()\nif pid == 0: os._exit(3)\nprint(os.waitpid(pid, 0)[1])"
        trace = self.check(["/usr/bin/python3", "-c", script], setup=setup, preload="{}:./fork.so", modes=BOTH)
        self.assertEqual(trace.calls("proc_fork"), 1)

    def test_t32_vfork_first(self):
        for where in ("thread", "fork", "daemon"):
            with self.subTest(where=where):
                trace = self.check(["vfork_first", where], modes=BOTH)
        self.assertEqual(len({process["pid"] for process in trace.processes()}), 3)  # of the daemon, it was the child's

    def test_t32_thread_that_starts_a_program_first(self):
        self.need("gcc")
        static = machine.need_static_program(self)
        trace = self.check(["spawn_first", "spawn", static], modes=BOTH)
        self.assertEqual([(program["path"], program["reason"]) for program in trace.info()["untraced"]], [(static, "static program")])

        def setup(work):
            with open(f"{work}/main.c", "w", encoding="ascii") as file:
                file.write("int main(void) { return 0; }\n")
            done = subprocess.run(["gcc", "-fsanitize=address", f"{work}/main.c", "-o", f"{work}/first"], capture_output=True, check=False)
            if done.returncode:
                self.skipTest("there is no AddressSanitizer here")
        for way in ("spawn", "vfork"):  # which it would end, were our library before its own
            with self.subTest(way=way):
                self.check(["spawn_first", way, "./first"], setup=setup, modes=BOTH)

    def test_t32_vfork_of_what_cannot_be_traced(self):
        if os.geteuid():
            self.skipTest("only root can give a program away")

        def setup(work):
            shutil.copy("/bin/true", f"{work}/not_ours")
            os.chown(f"{work}/not_ours", 65534, 65534)
            os.chmod(f"{work}/not_ours", 0o4755)
        # At the end of a minute the memory for its totals is made, once: one run in two hundred met one.
        self.check(["vfork_cleaned", "./not_ours"], setup=setup, modes=BOTH, options={"minute_ms": 3600000})

    def test_t33_spawn_and_system(self):
        self.check(["spawn_and_system"], modes=BOTH)

    def test_t33_python_subprocess(self):
        script = ("import subprocess as s\n"
                  "for close in (True, False):\n"
                  "    print(s.run(['sh', '-c', 'echo x; exit 3'], close_fds=close, capture_output=True))\n"
                  "print(s.run(['/nonexistent'], stderr=s.PIPE) if 0 else 'skipped')\n"
                  "try: s.run(['/nonexistent'])\nexcept FileNotFoundError as e: print(e)\n"
                  "print(s.run('echo $PPID >/dev/null; ulimit -n', shell=True, text=True, capture_output=True).stdout)\n")
        self.check(["/usr/bin/python3", "-c", script], modes=BOTH)

    def test_t34_every_exec(self):
        for way in ("execv", "execve", "execl", "execle", "execlp", "execvp", "execvpe", "fexecve", "execveat", "memfd", "raw",
                    "thread", "many"):
            with self.subTest(way=way):
                trace = self.check(["exec_environments", way], status=7)
                self.assertEqual(len(trace.processes()), 2)
                self.assertEqual(trace.value("size:4247"), 100)

    def test_t34_exec_that_fails(self):
        self.check(["exec_environments", "too-many"], status=8)
        trace = self.check(["exec_environments", "missing"])
        self.assertEqual(trace.calls("proc_exec_failed"), 101)

        def setup(work):
            with open(f"{work}/data", "w", encoding="ascii") as f:
                f.write("no program, and no script")
            os.chmod(f"{work}/data", 0o755)
        self.check(["exec_environments", "no-program"], setup=setup, modes=BOTH)

    def test_t34_scrubbed_environments(self):
        for way in ("empty", "null"):
            with self.subTest(way=way):
                self.check(["exec_environments", way], status=7)

    def test_t34_record_locks_of_what_is_started(self):
        def setup(work):
            shutil.copy("/bin/true", f"{work}/program")
            shutil.copy("/bin/true", f"{work}/data")
            os.chmod(f"{work}/data", 0o644)
        for options in ({}, {"io": 0}):
            for way in (["spawn", "./program"], ["exec", "./data"]):
                with self.subTest(way=way, **options):
                    self.check(["record_locks", *way], setup=setup, modes=BOTH, options=options)

    def test_t34_scripts(self):
        def setup(work):
            with open(f"{work}/script", "w", encoding="ascii") as f:
                f.write(f"#!/bin/sh\nexec {self.host('exec_environments')}\n")
            os.chmod(f"{work}/script", 0o755)
        trace = self.check(["exec_environments", "script"], status=7, setup=setup)
        self.assertEqual(len(trace.processes()), 3)

    def test_t34_script_by_descriptor(self):
        """Its interpreter decides, as for one by path."""
        static = machine.need_static_program(self)

        def setup(work):
            with open(f"{work}/script", "w", encoding="ascii") as f:
                f.write(f"#!{static} --version\n")
            os.chmod(f"{work}/script", 0o755)
        trace = self.check(["exec_environments", "script-descriptor"], setup=setup)
        self.assertEqual([program["reason"] for program in trace.info()["untraced"]], ["static program"])

    def test_t34_shells_that_change_the_environment(self):
        host = self.host("exec_environments")
        for script in (f"env -i {host}", f"env -u LD_PRELOAD {host}", f"export -n LD_PRELOAD; {host}",
                       f"LD_PRELOAD= {host}", f"(unset LD_PRELOAD; {host}); env -i env; env -u LD_PRELOAD env | grep -c LD_"):
            with self.subTest(script=script):
                self.check(["bash", "-c", script], status=None, claims=False)

    def test_t34_our_variables_are_not_doubled(self):
        self.fresh_work()
        script = 'bash -c "bash -c env"; :'
        trace = self.check(["bash", "-c", script], claims=False, normalise=without_our_variables)
        # bash, its fork, and the images that replace one another there: bash, bash, env
        self.assertEqual(len(trace.processes()), 5)

    def test_t34_other_preloads_are_kept(self):
        other = os.path.join(os.path.dirname(self.host("boot_allocations")), "libearly_library.so")
        if not os.path.exists(other):
            self.skipTest("libearly_library.so is not built")
        for order in (f"{other}:{{}}", f"{{}}:{other}"):
            trace = self.check(["bash", "-c", "/bin/true; grep -c early_library /proc/self/maps >/dev/null && echo kept"],
                               preload=order, claims=False)
            self.assertEqual(len(trace.processes()), 5)  # bash, and two forks that became true and grep

    def test_t38_ways_to_die(self):
        ways = {"return": 0, "exit": 5, "_exit": 7, "_Exit": 7, "quick_exit": 8, "raw": 4, "abort": -signal.SIGABRT,
                "segv": -signal.SIGSEGV, "trap": -signal.SIGILL, "term": -signal.SIGTERM, "kill": -signal.SIGKILL,
                "exec": 6, "main-thread-exit": 0, "thread-_exit": 9, "vfork-exit": 5}
        for way, status in ways.items():
            with self.subTest(way=way):
                trace = self.check(["ways_to_die", way], status=status, modes=BOTH)
                if status >= 0 and trace and way != "exec":
                    self.assertEqual([process["exit"] for process in trace.processes()], [f"exit {status}"])

    def test_t38_real_programs(self):
        deaths = {
            "/usr/bin/python3": [["-c", "import os; os._exit(7)"], ["-c", "import os; os.abort()"],
                                 ["-c", "import ctypes; ctypes.string_at(8)"], ["-c", "import sys; sys.exit(3)"],
                                 ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"],
                                 ["-c", "raise ValueError('end')"],
                                 ["-c", "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])"]],
            "perl": [["-e", "exit 4"], ["-e", "kill 9, $$"], ["-e", "die qq(dead\n)"], ["-e", "exec 'false'"]],
            "bash": [["-c", "exit 6"], ["-c", "kill -SEGV $$"], ["-c", "exec false"], ["-c", "(exit 7); echo $?; kill -TERM $$"]],
            "node": [["-e", "process.exit(5)"], ["-e", "process.kill(process.pid, 'SIGKILL')"], ["-e", "process.exitCode = 3"]],
        }
        for program, endings in deaths.items():
            if not shutil.which(program):
                continue
            for ending in endings:
                with self.subTest(program=program, ending=ending):
                    trace = self.check([program, *ending], status=None, claims=False)
                    self.assertIsNotNone(trace)
                    self.assertEqual(trace.lost(), 0)


def without_our_variables(result):
    """`env` output less the variables that we are allowed to add; each may appear once."""
    ours = (b"LD_PRELOAD=", b"PROFTRACE_", b"CUDA_INJECTION64_PATH=", b"NVTX_INJECTION64_PATH=", b"INTEL_LIBITTNOTIFY64=")
    lines = result.out.split(b"\n")
    names = [line.split(b"=")[0] for line in lines if line.startswith(ours)]
    assert len(names) == len(set(names)), names
    return Result(b"\n".join(sorted(line for line in lines if not line.startswith(ours))), result.err, result.status)
