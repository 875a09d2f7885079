# SPDX-License-Identifier: MIT
"""T28, T34, T35, T52: the host starts and lives: where our file is not there, under filters that it did not make, on another libc."""
import os
import re
import shutil
import subprocess

from harness import FaultCase, SETTINGS, clean_environment, machine, run_command, slow

BOTH = ("full", "sampled")
SANDBOXED = " not recorded: in a sandbox (seccomp"
NOT_THERE = "the library's file cannot be opened there"


class StartFaults(FaultCase):
    def untraced(self, trace):
        """{path: reason} of the programs that ran without us."""
        return {program["exe"]: program["untraced_reason"] for program in trace.report()["processes"] if not program["traced"]}

    # ---- environments that cannot be read ----

    def make_foreign_programs(self, work):
        """Programs that must be started without us, so that their environment is copied."""
        with open("/bin/true", "rb") as file:
            image = file.read()
        loader = b"/lib64/ld-linux-x86-64.so.2\0"
        self.assertIn(loader, image)
        with open(f"{work}/musl", "wb") as file:
            file.write(image.replace(loader, b"/nowhere/ld-musl-x86_64.so\0\0", 1))
        with open(f"{work}/32bit", "wb") as file:
            file.write(image[:4] + b"\1" + image[5:])
        for name in ("musl", "32bit"):
            os.chmod(f"{work}/{name}", 0o755)

    def test_t34_bad_environments(self):
        self.check(["bad_environments", f"{self.work}/musl", f"{self.work}/32bit"], modes=BOTH, setup=self.make_foreign_programs)

    # ---- another libc ----

    def test_t35_musl_preloaded_directly(self):
        self.need("musl-gcc")

        def setup(work):
            with open(f"{work}/hello.c", "w", encoding="ascii") as file:
                file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <pthread.h>\n#include <unistd.h>\n#include <sys/wait.h>\n"
                           "static void *run(void *p) { free(malloc(100000)); return p; }\n"
                           "int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); pthread_join(t, 0);\n"
                           "if (!fork()) _exit(3); int s; wait(&s); printf(\"%d %d\\n\", WEXITSTATUS(s), fopen(\"/no\", \"r\") == 0); return 7; }\n")
            subprocess.run(["musl-gcc", "-O1", "-o", f"{work}/hello", f"{work}/hello.c"], check=True)
        self.check([f"{self.work}/hello"], modes=BOTH, setup=setup, status=7, claims=False)
        trace = self.check(["sh", "-c", f"{self.work}/hello; :"], setup=setup, claims=False)
        self.assertEqual(self.untraced(trace), {f"{self.work}/hello": "not a glibc program"})

    # ---- where our file is not there ----

    def make_root(self, work):
        """A root directory with a shell and its libraries."""
        listed = subprocess.run(["ldd", "/bin/dash"], capture_output=True, text=True, check=True).stdout
        for file in ["/bin/dash", *re.findall(r"(/lib\S+)", listed)]:
            os.makedirs(f"{work}/root{os.path.dirname(file)}", exist_ok=True)
            shutil.copy(file, f"{work}/root{file}")

    def test_t28_exec_in_another_root(self):
        if os.geteuid():
            self.skipTest("needs root")
        self.need("chroot", "dash")
        for more in ([], ["--userspec=65534:65534"]):
            trace = self.check(["chroot", *more, f"{self.work}/root", "/bin/dash", "-c", "echo in; echo too >&2; exit 3"],
                               setup=self.make_root, status=3, claims=False)
            untraced = self.untraced(trace)
            self.assertEqual(list(untraced), ["/bin/dash"])
            self.assertIn(NOT_THERE, untraced["/bin/dash"])

    def test_t28_bubblewrap(self):
        self.need("bwrap", "dash")
        command = ["bwrap", "--ro-bind", f"{self.work}/root", "/", "/bin/dash", "-c", "echo in"]
        self.fresh_work(self.make_root)
        if subprocess.run(command, capture_output=True, check=False).returncode:
            self.skipTest("bwrap may not make a namespace here")
        trace = self.check(command, setup=self.make_root, claims=False)
        self.assertIn(NOT_THERE, self.untraced(trace)["/bin/dash"])
        # The root is made in a namespace, by a process whose own file is out of reach when it starts the program.
        usr = [part for name in ("lib64", "lib", "bin") for part in ("--symlink", f"usr/{name}", f"/{name}")]
        trace = self.check(["bwrap", "--ro-bind", "/usr", "/usr", *usr, "--unshare-pid", "/bin/ls", "/"], claims=False)
        self.assertIn(NOT_THERE, self.untraced(trace)["/bin/ls"])
        # The same root, but nothing can be written there: it is no full disk.
        trace = self.check(["bwrap", "--ro-bind", "/", "/", "/bin/dash", "-c", "echo in"], setup=self.make_root, claims=False)
        self.assertNotIn("no room", " ".join(trace.info()["notes"]))

    def test_t28_another_user_may_not_read_it(self):
        if os.geteuid():
            self.skipTest("needs root")
        self.need("setpriv")
        hidden = os.path.join(self.scratch, "hidden")
        os.mkdir(hidden, 0o700)
        shutil.copy(SETTINGS.lib, f"{hidden}/libproftrace.so")
        nobody = ["setpriv", "--reuid=65534", "--clear-groups"]
        trace = self.check([*nobody, "/bin/echo", "hello"], preload=f"{hidden}/libproftrace.so", claims=False)
        self.assertIn(NOT_THERE, self.untraced(trace)["/bin/echo"])

    def test_t34_relative_path_and_another_folder(self):
        def setup(work):
            shutil.copy(SETTINGS.lib, f"{work}/libproftrace.so")
        trace = self.check(["bash", "-c", "/bin/true; cd /; /bin/echo out; :"], setup=setup, preload="./libproftrace.so", claims=False)
        untraced = self.untraced(trace)
        self.assertEqual(list(untraced), ["/bin/echo"])
        self.assertIn(NOT_THERE, untraced["/bin/echo"])

    def test_t34_bare_name_without_the_path_that_found_it(self):
        """The loader said that it cannot be preloaded: the program gets the file's path instead, and is traced."""
        def setup(work):
            shutil.copy(SETTINGS.lib, f"{work}/libproftrace.so")
        for more in (), ("LD_LIBRARY_PATH=/usr/lib",):
            with self.subTest(more=more):
                command = " ".join(["env", "-u", "LD_LIBRARY_PATH", *more])
                script = f"{command} /bin/echo out; {command} sh -c '/bin/echo again; :'; :"
                trace = self.check(["bash", "-c", script], setup=setup, preload="libproftrace.so", claims=False,
                                   env={"LD_LIBRARY_PATH": f"/nowhere:{self.work}/:"})
                self.assertEqual((self.shown.out, self.shown.err), (b"out\nagain\n", b""))
                traced = [os.path.basename(process["exe"]) for process in trace.report()["processes"] if process["traced"]]
                self.assertEqual(traced.count("echo"), 2, traced)
                self.assertEqual(self.untraced(trace), {})

    def test_t34_an_untraced_program_has_the_variables_of_others(self):
        """Those that we set are taken away with us; a stage may need PROFTRACE_PIPELINE_CONFIG."""
        def setup(work):
            shutil.copy(SETTINGS.lib, f"{work}/libproftrace.so")
        script = "cd /; for name in PIPELINE_CONFIG STAGE SESSION FILTERS; do /usr/bin/printenv PROFTRACE_$name; done; :"
        trace = self.check(["bash", "-c", script], setup=setup, preload="./libproftrace.so", claims=False,
                           env={"PROFTRACE_PIPELINE_CONFIG": "/work/config.json", "PROFTRACE_STAGE": "train"})
        self.assertEqual(self.shown.out, b"/work/config.json\ntrain\n")
        self.assertIn("/usr/bin/printenv", self.untraced(trace))

    # ---- sandboxes that the program makes ----

    def test_f1_sealed_thread(self):
        for way in ("strict", "strict-by-number", "tsc", "tsc-late", "tsc-late-malloc"):
            with self.subTest(way=way):
                trace = self.check(["sealed_thread", way], modes=BOTH)
                self.assertLess(trace.report()["total_duration_s"], 600)

    def test_f1_sealed_main_thread(self):
        """What stdio holds is written by the handlers of the end, which come after ours."""
        without = self.run_untraced([self.host("sealed_thread"), "main"], clean_environment())
        self.assertEqual((without.status, without.out), (-9, b"written at the end"))
        self.assertIsNone(without.difference(run_command([self.host("sealed_thread"), "main"], self.work, self.preload_environment(clean_environment(), "sampled"))))

    def test_f1_inlined_filter(self):
        """In a container, too, where the mode was a filter's before."""
        container = ["filtered_start", "container", "310", "fork"] if os.geteuid() == 0 else []
        for threads in ("one", "all"):
            for action in ("kill", "refuse"):
                for before in ([], container):
                    with self.subTest(threads=threads, action=action, before=before):
                        self.check([*before, self.host("inlined_filter"), threads, action], modes=BOTH, claims=not before)

    def test_f1_no_new_privs_is_no_filter(self):
        """In a container a program gives up new rights, as Landlock's users do, and is recorded on."""
        container = ["filtered_start", "container", "310", "fork"] if os.geteuid() == 0 else []
        program = "import ctypes, os\nassert ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) == 0\nfor i in range(200000): os.write(1, b'')"
        trace = self.check([*container, "/usr/bin/python3", "-c", program], modes=BOTH, claims=False)
        self.assertEqual(trace.info()["events"]["drop_reasons"], {})

    def test_f1_a_minute_ends_under_a_filter(self):
        """The row of a minute goes to a place that may be gone, which is not asked for then: its filter kills whoever asks."""
        self.check(["own_filter", "by-name", "late"], modes=BOTH, options={"minute_ms": 1})

    def test_f1_own_filter(self):
        """One that comes with a descriptor, or by number; in a container, too, where the mode was a filter's before, and without a clock."""
        container = ["filtered_start", "refuse", "28", "fork"]
        for way in ("listener", "by-number", "by-name"):
            for host in ("own_filter", "own_filter_no_counter"):
                for before in ([], container):
                    with self.subTest(way=way, host=host, before=before):
                        self.check([*before, self.host(host), way], modes=BOTH, claims=not before)

    def test_f1_filter_of_a_vfork_child(self):
        """300 events of the parent were dropped; the end of another thread, by number, opened the child's sandbox, and it was killed."""
        for argv in (["vfork_filter"], ["vfork_filter", "fails first"], ["vfork_filter", "beside", "a thread that ends"]):
            self.check(argv, modes=BOTH)

    # ---- names and descriptors ----

    def test_t34_names_that_nobody_reads(self):
        self.check(["odd_names"], modes=BOTH)

    def test_t34_program_that_is_open_as_a_path(self):
        program = machine.need_static_program(self)
        trace = self.check(["odd_names", program], claims=False)
        self.assertEqual(self.untraced(trace), {program: "static program"})

    def test_t34_spawn_from_another_directory(self):
        """The file of that name where the parent is was judged: a program with a sanitizer did not start."""
        trace = self.check(["odd_names", "spawn", machine.need_static_program(self)], claims=False)
        untraced = self.untraced(trace)
        self.assertEqual({path: reason for path, reason in untraced.items() if "below" in path}, {"by_name/below/./program": "static program"})
        self.assertEqual(set(untraced.values()), {"static program"}, untraced)
        self.assertEqual(len(untraced), 2, untraced)

    # ---- sandboxes that were there before ----

    def test_f1_started_under_a_filter_that_kills(self):
        """Each call of ours that /bin/true and a shell do without: the program lives, and the run says what it lacks."""
        numbers = {"fallocate": 285, "fstatfs": 138, "madvise": 28, "getrusage": 98, "uname": 63, "getpid": 39, "getrandom": 318,
                   "prctl": 157, "rt_sigprocmask": 14, "open": 2, "clone": 56, "gettid": 186, "tgkill": 234, "wait4": 61}
        for name, number in numbers.items():
            for way in ("exec", "fork"):
                if way == "fork" and name in ("clone", "wait4", "rt_sigprocmask", "prctl", "getpid", "gettid"):
                    continue  # the parent makes them itself, or libc's fork does
                with self.subTest(call=name, way=way):
                    trace = self.check(["filtered_start", "kill", str(number), way, "/bin/true"], claims=False)
                    self.assertIn(SANDBOXED, " ".join(trace.info()["notes"]))
        self.check(["filtered_start", "trap", "285,28,98", "exec", "/bin/true"], modes=BOTH, claims=False)

    def test_f1_started_under_a_filter_that_refuses(self):
        """Containers: what is refused is done without. A program whose parent lives under the same filter is recorded."""
        container = "165,310,298,321,272,308,312,250,425,426,323,434,435"  # mount, process_vm_readv, perf_event_open, bpf, ...
        for numbers in (container, "318,248", "14", "63", "98,186", "138", "302", "202"):
            with self.subTest(numbers=numbers):
                script = "/bin/echo one; /bin/cat /dev/null; exit 5"
                trace = self.check(["filtered_start", "refuse", numbers, "fork", "/bin/sh", "-c", script], status=5, claims=False)
                self.assertNotIn("no room", " ".join(trace.info()["notes"]))
                programs = [process["exe"] for process in trace.report()["processes"] if process["traced"]]
                self.assertLessEqual({"/bin/sh", "/bin/echo", "/bin/cat"}, set(programs))

    def test_f1_stacks_where_futex_is_refused(self):
        """libgcc's unwinder comes through pthread_once, which makes that call even where nobody waits; libc ends the program where it fails."""
        trace = self.check(["filtered_start", "refuse", "202", "fork", os.path.join(SETTINGS.hosts, "heap_known")], modes=BOTH, claims=False)
        self.assertTrue(any(event.get("stack") for event in trace.events("heap_sample")))

    @slow
    def test_f1_started_under_filters_that_kill_any_one_call(self):
        program = ["/bin/sh", "-c", "/bin/echo one; cd /; /bin/cat /dev/null; exit 5"]
        clone = 56  # the trial of a shell's child dies of it, because the shell made the child by vfork
        environment, compared = clean_environment(), 0
        for number in set(range(452)) - {clone}:
            for argv in ([self.host("filtered_start"), "kill", str(number), way, *program] for way in ("exec", "fork")):
                without = self.run_untraced(argv, environment)
                if without.status != 5:
                    continue
                result = run_command(argv, self.work, self.preload_environment(environment, "sampled"))
                self.assertIsNone(without.difference(result), argv)
                compared += 1
        self.assertGreater(compared, 500)

    def test_f1_the_trial_leaves_no_child(self):
        host = os.path.join(SETTINGS.hosts, "filtered_start")
        for denied in ("refuse", "kill"):
            with self.subTest(denied=denied):
                trace = self.check(["filtered_start", denied, "248", "fork", host, "children"], modes=BOTH, claims=False)
                self.assertIn(host, [process["exe"] for process in trace.report()["processes"] if process["traced"]])
        self.check(["filtered_start", "kill", "318", "fork", host, "children"], claims=False)  # one that ends in it

    def test_f1_started_where_memory_cannot_be_wiped_at_forks(self):
        """Without MADV_WIPEONFORK a child would write into its parent's file."""
        trace = self.check(["filtered_start", "refuse", "28", "fork", "/bin/true"], claims=False)
        self.assertIn("2 processes were" + SANDBOXED, " ".join(trace.info()["notes"]))  # the forked child, and what it became

    def test_f1_started_under_a_filter_by_an_unfiltered_parent(self):
        """Nobody is known to have made a child under it: it is not tried."""
        trace = self.check(["filtered_start", "kill", "248", "exec", "/bin/sh", "-c", "/bin/echo one; :"], claims=False)
        self.assertIn(SANDBOXED, " ".join(trace.info()["notes"]))

    # ---- the loader as a program ----

    def test_t60_loader_as_a_program(self):
        loader = "/lib64/ld-linux-x86-64.so.2"
        if not os.path.exists(loader):
            self.skipTest(f"{loader} is not there")
        trace = self.check(["bash", "-c", f"{loader} /bin/echo x; ldd /bin/echo >/dev/null; :"], claims=False)
        self.assertNotIn(loader, self.untraced(trace))
        self.assertIn("echo", [os.path.basename(process["exe"]) for process in trace.report()["processes"]])
