# SPDX-License-Identifier: MIT
"""`proftrace stacks PID`: each planted hang is named with its place, what is slow is not called hung, nobody is harmed."""
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import machine  # noqa: E402

BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build"))
PROFTRACE = os.path.join(BUILD, "proftrace")
OURS = ("PROFTRACE_", "ENABLE_PROFILING", "PROFILE_OUTPUT_DIR", "LD_PRELOAD")


def clean_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(OURS)}


def ask(*arguments, within=()):
    return subprocess.run([*within, PROFTRACE, "stacks", *map(str, arguments)], env=clean_environment(), capture_output=True, text=True,
                          timeout=60, check=False)


def bare(function):
    """One function has many names: ___pthread_mutex_lock, pthread_mutex_lock@@GLIBC_2.2.5."""
    return (function or "").split("@")[0].lstrip("_").removeprefix("GI_").lstrip("_")


class Hangs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hangs-")
        cls.program = os.path.join(cls.folder, "hang")
        subprocess.run(["cc", "-O1", "-g", "-D_GNU_SOURCE", os.path.join(HERE, "hang.c"), "-o", cls.program, "-lpthread"],
                       check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def start(self, *command):
        """A program that has said that it is ready, and the words behind that."""
        program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=clean_environment(), cwd=self.folder,
                                   start_new_session=True)
        self.addCleanup(program.wait)
        self.addCleanup(os.killpg, program.pid, signal.SIGKILL)
        self.addCleanup(program.stdout.close)
        said = program.stdout.readline()
        if said.startswith("impossible here: "):
            self.skipTest(said)
        words = said.split()
        self.assertEqual(words[:1], ["ready"])
        return program, words[1:]

    @unittest.skipUnless(shutil.which("c++"), "needs a C++ compiler")
    def test_the_place_is_in_the_program_not_in_a_header(self):
        """std::mutex and std::future are made of headers, whose lines say nothing."""
        for level in "-O0", "-O2":
            program = os.path.join(self.folder, f"hang{level}")
            subprocess.run(["c++", level, "-g", os.path.join(HERE, "hang.cc"), "-o", program, "-lpthread"], check=True)
            for what, wanted in ("locks", r"^deadlock: .*lock_both.*\(hang\.cc:18\).*\(hang\.cc:18\)"), ("promise", r"^hang: .*wait_for_result.*\(hang\.cc:\d+\)"):
                with self.subTest(level=level, what=what):
                    program_of, _ = self.start(program, what)
                    for _ in range(100):
                        first = ask(program_of.pid).stdout.partition("\n")[0]
                        if re.search(wanted, first):
                            break
                        time.sleep(0.05)
                    self.assertRegex(first, wanted)

    def test_code_without_a_file_is_the_programs_own(self):
        code = "import queue\nq = queue.Queue()\ndef fetch_item():\n    return q.get()\nprint('ready', flush=True)\nfetch_item()"
        program, _ = self.start("/usr/bin/python3", "-c", code)
        for _ in range(100):
            first = ask(program.pid).stdout.partition("\n")[0]
            if "fetch_item" in first:
                break
            time.sleep(0.05)
        self.assertRegex(first, r"in fetch_item \(<string>:4\)")

    def need(self, *within):
        """Skips where this machine does not allow what a command is run within."""
        tried = subprocess.run([*within, "true"], capture_output=True, text=True, check=False)
        if tried.returncode:
            self.skipTest(f"`{' '.join(within)}` is not allowed here: {tried.stderr.strip()}")

    def program_for_all(self):
        """Ours where another user may run it: a checkout can be below a folder that is closed to others, as /root is."""
        os.chmod(self.folder, 0o755)
        return shutil.copy(PROFTRACE, self.folder)

    def look(self, pid, is_there, within=()):
        """The look in which what is asked for has come: the program may just be on its way."""
        for _ in range(200):
            done = ask(pid, "--format", "json", within=within)
            self.assertEqual(done.returncode, 0, done.stderr)
            look = json.loads(done.stdout)
            if is_there(look):
                break
            time.sleep(0.05)
        return look

    def threads(self, look):
        return [thread for process in look["processes"] for thread in process["threads"]]

    def functions(self, thread):
        return [frame["function"] for frame in thread["frames"]]

    def deadlocked(self, n):
        program, _ = self.start(self.program, {2: "two", 3: "three"}[n])
        look = self.look(program.pid, lambda look: sum(t["deadlocked"] for t in self.threads(look)) == n + 1)
        self.assertRegex(look["conclusions"][0], "^deadlock: ")
        self.assertRegex(look["conclusions"][1], f"^waiting for that: {program.pid} in deadlock")
        workers = [t for t in self.threads(look) if t["tid"] != program.pid]
        for thread in workers:
            self.assertIn("waits for the mutex at", thread["does"])
            functions = self.functions(thread)
            self.assertLess(functions.index("take_second"), functions.index("worker"))
            place = thread["frames"][functions.index("take_second")]
            self.assertEqual(os.path.basename(place["file"]), "hang.c")
            self.assertIsNone(thread["why_cut"])
        # Each waits for the next one, around.
        self.assertEqual(sorted(t["waits_for"][0] for t in workers), sorted(t["tid"] for t in workers))
        main = next(t for t in self.threads(look) if t["tid"] == program.pid)
        self.assertIn("pthread_join", main["does"])

    def test_two_threads_that_hold_what_the_other_wants_are_a_deadlock(self):
        self.deadlocked(2)

    def test_so_are_three_in_a_circle(self):
        self.deadlocked(3)

    def test_a_lock_whose_holder_sleeps_is_waited_for_and_is_no_deadlock(self):
        program, _ = self.start(self.program, "slow")
        look = self.look(program.pid, lambda look: any("mutex" in t["does"] for t in self.threads(look)))
        holder = next(t for t in self.threads(look) if t["tid"] != program.pid)
        waiter = next(t for t in self.threads(look) if t["tid"] == program.pid)
        self.assertEqual(waiter["waits_for"], [holder["tid"]])
        self.assertIn("sleeps", holder["does"])
        self.assertIn("slow_holder", self.functions(holder))
        self.assertEqual(look["conclusions"], [])

    @unittest.skipUnless(os.path.exists("/proc/self/sched"), "a kernel without CONFIG_SCHED_DEBUG")
    def test_how_long_it_has_waited_is_the_same_from_each_cpu(self):
        code = "import os, time; print('ready', flush=True); time.sleep(60)"
        program, _ = self.start("/usr/bin/python3", "-c", code)
        begin = time.monotonic()
        self.look(program.pid, lambda look: "sleeps" in self.threads(look)[0]["does"])
        time.sleep(0.5)
        ours = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, ours)
        for cpu in sorted(ours)[:4]:
            program_asks = [sys.executable, "-c", f"import os, sys; os.sched_setaffinity(0, {{{cpu}}}); os.execv(sys.argv[1], sys.argv[1:])"]
            done = subprocess.run([*program_asks, PROFTRACE, "stacks", str(program.pid), "--format", "json"], env=clean_environment(), capture_output=True, check=True, timeout=60)
            since_ns = self.threads(json.loads(done.stdout))[0]["since_ns"]
            self.assertIsNotNone(since_ns)
            self.assertTrue(0.3 < since_ns / 1e9 < time.monotonic() - begin + 0.3, (cpu, since_ns))

    def test_a_loop_runs_and_its_place_is_shown(self):
        program, _ = self.start(self.program, "spin")
        look = self.look(program.pid, lambda look: self.functions(self.threads(look)[0])[-1:] != [])
        self.assertEqual(self.threads(look)[0]["does"], "runs")
        self.assertIn("main", self.functions(self.threads(look)[0]))
        self.assertEqual(look["conclusions"], [])
        self.assertIsNone(program.poll())
        with open(f"/proc/{program.pid}/status", encoding="ascii") as status:
            self.assertIn("TracerPid:\t0\n", status.read())

    def test_a_stop_is_short(self):
        """Threads that run are stopped to be read, and no process for longer than 50 ms, however many they are. The shortest of several
        looks: who looks may lose its CPU to other programs, and its promise is of its own work."""
        program, _ = self.start(self.program, "spin")
        for pid in program.pid, self.start(self.program, "crowd")[0].pid:
            stops_ms = []
            for _ in range(30):
                look = json.loads(ask(pid, "--format", "json").stdout)
                stops_ms.append(look["processes"][0]["stopped_ms"])
                unstopped = json.loads(ask(pid, "--format", "json", "--no-stop").stdout)
                self.assertEqual(unstopped["processes"][0]["stopped_ms"], 0)
                if stops_ms[-1] < 50:
                    break
            self.assertLess(min(stops_ms), 50)
        self.assertTrue(any(thread["was_stopped"] for thread in self.threads(look)))
        self.assertEqual(len(self.threads(look)), 2001)

    def test_a_child_that_was_stopped_is_said_to_be_and_how_it_goes_on(self):
        program, (child,) = self.start(self.program, "stopped")
        os.kill(int(child), signal.SIGSTOP)
        look = self.look(program.pid, lambda look: any("(stopped)" in t["does"] for t in self.threads(look)))
        does = {t["tid"]: t["does"] for t in self.threads(look)}
        self.assertIn(f"kill -CONT {child}", does[int(child)])
        self.assertIn(f"child to end: {child} (stopped)", does[program.pid])

    def test_a_file_that_another_process_has_locked_is_named_with_that_process(self):
        path = os.path.join(self.folder, "locked")
        script = f"import fcntl\nf = open({path!r}, 'w')\nprint('ready', flush=True)\nfcntl.flock(f, fcntl.LOCK_EX)\n"
        with open(path, "w", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            program, _ = self.start("/usr/bin/python3", "-c", script)
            look = self.look(program.pid, lambda look: "lock of the file" in self.threads(look)[0]["does"])
            does = self.threads(look)[0]["does"]
            self.assertIn(f"({path}, on ", does)
            self.assertIn(f"held by process {os.getpid()}", does)

    @unittest.skipUnless(shutil.which("gdb"), "needs gdb")
    def test_the_stacks_are_those_of_gdb(self):
        program, _ = self.start(self.program, "three")
        look = self.look(program.pid, lambda look: sum(t["deadlocked"] for t in self.threads(look)) == 4)
        said = subprocess.run(["gdb", "-nx", "-batch", "-p", str(program.pid), "-ex", "set backtrace past-main on",
                               "-ex", "thread apply all bt"], capture_output=True, text=True, timeout=120,
                              env={**clean_environment(), "DEBUGINFOD_URLS": ""}, check=False).stdout
        theirs, tid = {}, 0
        for line in said.splitlines():
            head = re.match(r"Thread \d+ \(.*LWP (\d+)\)", line)
            frame = re.match(r"#\d+ +(?:0x[0-9a-f]+ in )?(\w+).*?(?: at .*/(hang\.c):(\d+))?$", line)
            if head:
                tid = int(head.group(1))
                theirs[tid] = []
            elif frame and tid:
                theirs[tid].append((bare(frame.group(1)), int(frame.group(3) or 0)))
        if not theirs:
            self.skipTest("gdb may not attach here")
        threads = self.threads(look)
        self.assertEqual(sorted(t["tid"] for t in threads), sorted(theirs))
        for thread in threads:
            ours = [(bare(f["function"]), f["line"] if (f["file"] or "").endswith("/hang.c") else 0) for f in thread["frames"]]
            self.assertEqual([f for f in ours if f[1]], [f for f in theirs[thread["tid"]] if f[1]])
            # With the C library's debug information it also shows what was inlined there, and jumps in place of calls.
            rest = iter(theirs[thread["tid"]])
            self.assertTrue(all(frame in rest for frame in ours), (ours, theirs[thread["tid"]]))
            self.assertEqual(ours[-1], theirs[thread["tid"]][-1])

    def start_with_other_file(self, here, there, *command):
        """A program that finds the file `there` at the path of `here`, as in a container."""
        within = "unshare", *([] if os.geteuid() == 0 else ["-r"]), "-m"
        self.need(*within)
        time.sleep(2.1)  # an old file could be the one that was mapped, by another number: an overlay has two for each
        script = 'mount --bind "$1" "$2" || { echo "impossible here: no mount"; exit; }; shift 2; exec "$@"'
        return self.start(*within, "sh", "-c", script, "sh", there, here, *command)[0]

    @unittest.skipUnless(shutil.which("unshare"), "needs unshare")
    def test_in_a_container_its_own_files_are_read(self):
        """Those of the same path here have other functions at the same places."""
        here, there, program = (os.path.join(self.folder, name) for name in ("libplanted.so", "there.so", "uses_planted"))
        for path, function, n_before in (here, "another_function", 60), (there, "waits_for_work", 0):
            before = "".join(f"int filler_{i}(int x) {{ volatile char more[{100 + i}]; more[x] = x; return more[x]; }}\n" for i in range(n_before))
            source = f"#include <unistd.h>\n{before}void {function}(void) {{ for (;;) pause(); }}\nvoid planted(void) {{ {function}(); _exit(1); }}\n"
            subprocess.run(["cc", "-O1", "-fno-inline", "-shared", "-fPIC", f"-Wl,-soname,{here}", "-x", "c", "-", "-o", path], input=source, text=True, check=True)
        source = "#include <stdio.h>\nvoid planted(void);\nint main(void) { puts(\"ready\"); fflush(stdout); planted(); return 0; }\n"
        subprocess.run(["cc", "-O1", "-x", "c", "-", "-x", "none", there, "-o", program], input=source, text=True, check=True)
        started = self.start_with_other_file(here, there, program)
        look = self.look(started.pid, lambda look: any("pause" in str(self.functions(t)) for t in self.threads(look)))
        functions = self.functions(self.threads(look)[0])
        self.assertEqual([bare(f) for f in functions[:4]], ["pause", "waits_for_work", "planted", "main"])

    @unittest.skipUnless(shutil.which("unshare"), "needs unshare")
    def test_so_is_the_interpreter_of_a_container(self):
        """What is here under its name is no interpreter."""
        here = os.path.join(self.folder, "python3")
        shutil.copy("/bin/true", here)
        started = self.start_with_other_file(here, os.path.realpath("/usr/bin/python3"), here, os.path.join(HERE, "hang.py"))
        look = self.look(started.pid, lambda look: any("load" in self.functions(t) for t in self.threads(look)))
        loader = next(t for t in self.threads(look) if "load" in self.functions(t))
        self.assertEqual([(f["function"], f["line"]) for f in loader["frames"] if f["python"]][:2], [("fetch_batch", 10), ("load", 14)])

    def start_in_chroot(self, *command):
        """A program with a root of its own, in a mount namespace of its own. hang.py and a FIFO are in its root."""
        within = "unshare", "-m"
        self.need(*within)
        root = tempfile.mkdtemp(dir=self.folder)
        script = ("{ mount -t tmpfs none $0 && mkdir $0/usr && mount --bind /usr $0/usr; } || { echo 'impossible here: no mount'; exit; }\n"
                  "for name in bin lib lib64; do\n"
                  "    if [ -L /$name ]; then cp -P /$name $0; elif [ -e /$name ]; then mkdir $0/$name; mount --bind /$name $0/$name; fi\n"
                  "done\ncp $1 $0/hang.py; mkfifo $0/fifo; r=$0; shift; exec chroot $r \"$@\"")
        return self.start(*within, "sh", "-c", script, root, os.path.join(HERE, "hang.py"), *command)[0]

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare") and shutil.which("nsenter"), "needs root, unshare and nsenter")
    def test_so_is_that_of_a_chroot(self):
        """Its maps name the new root, too. It is looked at from where that root was mounted, and from where it is not."""
        started = self.start_in_chroot("/usr/bin/python3", "/hang.py")
        for seen_from in ("nsenter", "-t", str(started.pid), "-m"), ():
            with self.subTest(seen_from=seen_from):
                look = self.look(started.pid, lambda look: any("load" in self.functions(t) for t in self.threads(look)), seen_from)
                python = [(f["function"], f["line"]) for t in self.threads(look) for f in t["frames"] if f["python"]]
                self.assertIn(("fetch_batch", 10), python, [p["no_python_reason"] for p in look["processes"]])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root and unshare")
    def test_a_fifo_of_a_chroot_is_one(self):
        program = self.start_in_chroot("/usr/bin/python3", "-c", "print('ready', flush=True); open('fifo')")
        look = self.look(program.pid, lambda look: "fifo" in self.threads(look)[0]["does"])
        self.assertIn("/fifo, a FIFO: until somebody opens its other end", self.threads(look)[0]["does"])

    def test_a_traced_python_program_shows_its_functions_with_lines(self):
        run = os.path.join(self.folder, "run")
        program, _ = self.start(PROFTRACE, "run", "--no-report", "-o", run, "--", "/usr/bin/python3", os.path.join(HERE, "hang.py"))
        look = self.look(program.pid, lambda look: any("load" in self.functions(t) for t in self.threads(look)))
        loader = next(t for t in self.threads(look) if "load" in self.functions(t))
        python = [(f["function"], f["line"]) for f in loader["frames"] if f["python"]][:2]
        self.assertEqual(python, [("fetch_batch", 10), ("load", 14)])
        self.assertIn("waits for data from descriptor", loader["does"])
        self.assertIn("pipe:[", loader["does"])
        by_run = json.loads(ask(run, "--format", "json").stdout)
        self.assertEqual([p["run"] for p in by_run["processes"]], [run])
        self.assertIn("load", [f for t in self.threads(by_run) for f in self.functions(t)])

    def test_one_that_was_started_without_us_shows_them_too(self):
        program, _ = self.start("/usr/bin/python3", os.path.join(HERE, "hang.py"))
        look = self.look(program.pid, lambda look: any("load" in self.functions(t) for t in self.threads(look)))
        loader = next(t for t in self.threads(look) if "load" in self.functions(t))
        self.assertEqual([(f["function"], f["line"]) for f in loader["frames"] if f["python"]][:2], [("fetch_batch", 10), ("load", 14)])
        self.assertEqual([p["no_python_reason"] for p in look["processes"]], [None])

    def test_what_cannot_be_looked_at_is_one_line_with_a_remedy(self):
        _, (zombie,) = self.start(self.program, "zombie")
        for _ in range(200):
            done = ask(zombie)
            if "zombie" in done.stderr:
                break
            time.sleep(0.05)
        gone = subprocess.Popen(["true"])
        gone.wait()
        for done, said, code in ((done, "a zombie until its parent", 3), (ask(gone.pid), "there is no process", 3),
                                 (ask("x"), "neither a process id nor a run", 3),
                                 (ask(self.folder), "records into", 3)):
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_run_of_a_small_process(self):
        run = os.path.join(self.folder, "small")
        self.start(PROFTRACE, "run", "--no-report", "-o", run, "--", "sh", "-c", "echo ready; exec sleep 60")
        until = time.monotonic() + 20
        while "sleep" not in (done := ask(run)).stdout and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("sleep", done.stdout)

    def test_the_main_thread_has_ended(self):
        """The kernel shows such a process as a zombie without memory and files."""
        program, _ = self.start(self.program, "left")
        pattern = r"^hang: thread \d+ in wait_for_byte \(hang\.c:\d+\) waits for data from descriptor \d \(pipe:\S+, written by nobody but this process itself\)"
        for _ in range(50):  # until its main thread has ended
            said = ask(program.pid)
            if re.search(pattern, said.stdout.partition("\n")[0]):
                break
            time.sleep(0.1)
        self.assertRegex(said.stdout, pattern)
        self.assertRegex(said.stdout, rf"thread {program.pid} hang: has ended\n")

    def test_a_wait_in_the_kernel_that_cannot_be_interrupted(self):
        """The parent of a vfork: it is not stopped, or it would stay stopped when it could go on."""
        source = "#include <unistd.h>\n#include <time.h>\nint main(void)\n{\n    if (vfork() == 0) {\n        struct timespec time = {4, 0};\n" \
                 "        nanosleep(&time, 0);\n        _exit(0);\n    }\n    return 0;\n}\n"
        program = os.path.join(self.folder, "waits")
        subprocess.run(["cc", "-O0", "-fno-omit-frame-pointer", "-x", "c", "-", "-o", program], input=source, text=True, check=True)
        done = subprocess.run([PROFTRACE, "run", "--no-report", "--stall", "1", "--interval", "100", "--", program],
                              env=clean_environment(), cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing has moved for 1.00 s", done.stderr)

    def test_another_users_process_is_named_as_such(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become somebody else")
        program, _ = self.start(self.program, "two")
        done = subprocess.run([self.program_for_all(), "stacks", str(program.pid)], env=clean_environment(), capture_output=True, text=True,
                              user=65534, group=65534, extra_groups=[], timeout=60, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("belongs to another user (uid 0)", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare") and shutil.which("setpriv"), "needs root, unshare and setpriv")
    def test_one_that_proc_hides_is_not_said_to_be_gone(self):
        """A /proc with hidepid, as on many clusters. There, process 1 is root's."""
        within = "unshare", "-m", "-p", "-f"
        self.need(*within)
        program = self.program_for_all()
        for hidden in 1, 2:
            script = (f"mount -t proc -o hidepid={hidden} proc /proc || exit 77\n"
                      f"setpriv --reuid 65534 --regid 65534 --clear-groups {program} stacks \"$@\"\nexit $?")
            done = {pid: subprocess.run([*within, "sh", "-c", script, "sh", str(pid)], env=clean_environment(), capture_output=True, text=True,
                                        timeout=60, check=False) for pid in (1, 999999)}
            if done[1].returncode == 77:
                self.skipTest("no /proc of our own can be mounted")
            self.assertEqual(done[1].returncode, 3, done[1].stderr)
            self.assertIn("process 1: /proc does not show it: it is another user's (hidepid); run proftrace as that user or as root\n", done[1].stderr)
            self.assertIn("there is no process 999999", done[999999].stderr)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare") and shutil.which("setpriv"), "needs root, unshare and setpriv")
    def test_what_the_kernel_refuses_has_the_remedy_that_helps(self):
        """ptrace_scope 3 refuses root, too, and stays until the next boot. Here the kernel refuses who has fewer capabilities than the process."""
        self.need("unshare", "-m")
        program = self.program_for_all()
        as_user, without = "setpriv --reuid 65534 --regid 65534 --clear-groups", "setpriv --bounding-set -sys_ptrace,-net_bind_service"
        for who, scope, remedy in ((as_user, "1", "the kernel refuses (kernel.yama.ptrace_scope is 1): run proftrace as root, or `sysctl kernel.yama.ptrace_scope=0`\n"),
                                   (without, "1", "run proftrace as root, in a container with --cap-add SYS_PTRACE\n"),
                                   (as_user, "3", "the kernel refuses (kernel.yama.ptrace_scope is 3), root too, until the next boot: set it below 3 in /etc/sysctl.d, and reboot\n")):
            script = (f"mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && echo {scope} >/proc/sys/kernel/yama/ptrace_scope || exit 77\n"
                      f"{as_user + ' --inh-caps +net_bind_service --ambient-caps +net_bind_service' if who is as_user else ''} sleep 60 &\n"
                      "until grep -qs sleep /proc/$!/comm; do kill -0 $! || exit 77; sleep 0.01; done\n"
                      f"{who} {program} stacks $!; code=$?; kill $!; exit $code")
            done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=clean_environment(), capture_output=True, text=True, timeout=60, check=False)
            if done.returncode == 77:
                self.skipTest(f"nothing can be mounted, or no capability be given, here: {done.stderr.strip()}")
            self.assertIn(remedy, done.stderr)

    def test_all_of_many_children_are_looked_at(self):
        """The kernel names some five hundred of them in one read."""
        machine.need_tasks(self, 1500)
        parent, _ = self.start("sh", "-c", "i=0; while [ $i -lt 1500 ]; do sleep 600 & i=$((i+1)); done; echo ready; wait")
        done = ask("--format", "json", parent.pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["processes"]), 1501)

    def test_a_program_that_is_looked_at_all_the_time_does_the_same(self):
        script = ("import hashlib, os, sys\nh = b''\nprint('ready', flush=True)\nn = 0\nwhile n < 400000 or not os.path.exists(sys.argv[1]):\n"
                  "    for _ in range(1000):\n        n += 1\n        h = hashlib.md5(h).digest()\n    if n == 400000:\n        print(h.hex())\n")
        alone = subprocess.run([sys.executable, "-c", script, "/"], capture_output=True, text=True, check=True).stdout.split()[1]
        seen = os.path.join(self.folder, "seen")
        program = subprocess.Popen([sys.executable, "-c", script, seen], stdout=subprocess.PIPE, text=True)
        program.stdout.readline()
        looks = 0
        while program.poll() is None:
            looks += ask(program.pid).returncode == 0
            if looks == 3:
                open(seen, "wb").close()
        self.assertEqual(program.stdout.read().split(), [alone])
        program.stdout.close()
        self.assertEqual(program.returncode, 0)
        self.assertGreater(looks, 0)


if __name__ == "__main__":
    unittest.main()
