# SPDX-License-Identifier: MIT
"""`proftrace run`: the command cannot tell, and ends as it would alone."""
import glob
import json
import os
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
import unittest
import unittest.mock

from launcher_case import LIBRARY, PROFTRACE, LauncherCase, clean_environment

PRINT_ENVIRONMENT = ["/usr/bin/env", "-0"]
BUDGET_AT = 16  # in session.bin
INJECTION_VARIABLES = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64")


def own_lines(stderr):
    return [line for line in stderr.decode().splitlines() if line.startswith("proftrace")]


class Endings(LauncherCase):
    def test_exit_code_is_the_commands(self):
        for code in (0, 1, 7, 125, 255):
            self.assertEqual(self.run_it("sh", "-c", f"exit {code}").returncode, code)
            self.assertEqual(self.record()["exit"], f"exit {code}")
            self.assertEqual(self.record()["exit_code"], code)

    def test_reports_whose_making_is_killed_leave_it_the_commands(self):
        """As for want of memory."""
        library = self.compile("""
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <fcntl.h>
            #include <signal.h>
            #include <string.h>
            int openat(int folder, const char *path, int flags, ...)
            {
                int (*real)(int, const char *, int, int) = (int (*)(int, const char *, int, int))dlsym(RTLD_NEXT, "openat");
                if (!strncmp(path, "report.html.", 12)) raise(SIGKILL);
                return real(folder, path, flags, 0600);
            }""", "-shared", "-fPIC", name="killer.so")
        done = self.proftrace("run", "-o", "run", "--", "sh", "-c", "exit 3", environment={"LD_PRELOAD": library})
        if b"ASan runtime" in done.stderr:
            self.skipTest("a sanitizer wants to be the first library")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(self.record("run")["exit_code"], 3)
        said = own_lines(done.stderr)
        self.assertEqual(said[0], "proftrace: writing the reports ended early (signal 9 (SIGKILL)); `proftrace report run` tries again")
        self.assertRegex(said[1], "^proftrace: exit 3 after ")
        self.assertEqual(self.proftrace("report", "run").returncode, 0)
        for script, code in ("exit 3", 1), ("exit 0", 125):
            with open(os.path.join(self.folder, "config.json"), "w", encoding="utf-8") as file:
                json.dump({"profile": {"stages": [{"stage": "a", "cmd": ["sh", "-c", script]}]}}, file)
            done = self.proftrace("pipeline", environment={"LD_PRELOAD": library})
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertRegex(done.stderr, rb"\(signal 9 \(SIGKILL\)\); `proftrace report ")

    def test_a_record_that_cannot_be_written_at_the_end(self):
        """A disk that is full: the launcher lives while its reports are written, but the run is over."""
        library = self.compile("""
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <fcntl.h>
            #include <string.h>
            #include <unistd.h>
            int openat(int folder, const char *path, int flags, ...)
            {
                int (*real)(int, const char *, int, int) = (int (*)(int, const char *, int, int))dlsym(RTLD_NEXT, "openat");
                if (!strncmp(path, "run.json.", 9) && access("over", F_OK) == 0) { errno = ENOSPC; return -1; }
                return real(folder, path, flags, 0600);
            }""", "-shared", "-fPIC", name="full.so")
        done = self.proftrace("run", "-o", "run", "--", sys.executable, "-c", "import time; time.sleep(0.2); open('over', 'w').close(); raise SystemExit(3)",
                              environment={"LD_PRELOAD": library})
        if b"ASan runtime" in done.stderr:
            self.skipTest("a sanitizer wants to be the first library")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"cannot make run/run.json: No space left on device", done.stderr)
        with open(os.path.join(self.folder, "run", "report.json"), encoding="utf-8") as file:
            stage = json.load(file)["stages"][0]
        self.assertEqual((stage["status"], stage["exit"]), ("failed", "exit 3"))

    def test_signal_is_the_commands(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGINT, signal.SIGPIPE):
            done = self.run_it("sh", "-c", f"kill -{int(number)} $$")
            self.assertEqual(done.returncode, -number)
            self.assertEqual(self.record()["exit"], f"signal {int(number)} ({number.name})")

    def test_no_core_file_of_the_launcher(self):
        def allow_core_files():
            hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
            resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        self.run_it("sh", "-c", "ulimit -c 0; kill -SEGV $$", preexec_fn=allow_core_files)
        self.assertEqual([f for f in os.listdir(self.folder) if f.startswith("core")], [])

    def test_not_found_is_127(self):
        for command in ("no-such-command-at-all", "./no-such-file", "/no/such/path"):
            done = self.run_it(command)
            self.assertEqual(done.returncode, 127)
            self.assertEqual(len(own_lines(done.stderr)), 1)
            self.assertIn(command.encode(), done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "proftrace.data")))

    def test_not_executable_is_126(self):
        path = os.path.join(self.folder, "text")
        with open(path, "w", encoding="utf-8") as file:
            file.write("hello\n")
        done = self.run_it("./text")
        self.assertEqual(done.returncode, 126)
        self.assertIn(b"chmod +x", done.stderr)
        self.assertEqual(self.run_it(self.folder).returncode, 126)

    def test_script_without_interpreter_line_goes_to_the_shell(self):
        path = os.path.join(self.folder, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write('echo "$0 $1"; exit 9\n')
        os.chmod(path, 0o755)
        done = self.run_it("./script", "word")
        self.assertEqual((done.returncode, done.stdout), (9, b"./script word\n"))

    def test_missing_interpreter_is_named(self):
        path = os.path.join(self.folder, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/no/such/interpreter -x\n")
        os.chmod(path, 0o755)
        done = self.run_it("./script")
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"/no/such/interpreter", done.stderr)


class Usage(LauncherCase):
    def assert_refused(self, done, *words):
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stdout, b"")
        lines = done.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        for word in words:
            self.assertIn(word, lines[0])

    def test_missing_command(self):
        self.assert_refused(self.proftrace("run"), "no command")
        self.assert_refused(self.proftrace("run", "--"), "no command")

    def test_misspelt_option_names_the_nearest(self):
        self.assert_refused(self.proftrace("run", "--stgae", "x", "true"), "--stage")
        self.assert_refused(self.proftrace("run", "--no-reprot", "true"), "--no-report")

    def test_bad_values(self):
        self.assert_refused(self.proftrace("run", "--heap", "most", "true"), "off|sampled|full")
        self.assert_refused(self.proftrace("run", "--interval", "soon", "true"), "--interval")
        self.assert_refused(self.proftrace("run", "--interval", "1", "true"), "10 ms")
        self.assert_refused(self.proftrace("run", "--interval", "0.5", "true"), "an interval of 0.5 is too short")

    def test_an_interval_is_in_milliseconds(self):
        for text, interval_ns in ("12.5", 12500000), ("12.5ms", 12500000), ("2s", 2000000000), ("700", 700000000):
            self.run_it("true", options=("--interval", text))
            with open(os.path.join(self.folder, "proftrace.data/latest/run.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["interval_ns"], interval_ns, text)

    def test_a_directory_may_end_with_a_slash(self):
        """With the umask of many user-private groups it was made for the group to write, and refused."""
        for number, (options, environment) in enumerate(((("-o", "out/"), {}), ((), {"PROFTRACE_DIR": "out//"}), ((), {"PROFILE_OUTPUT_DIR": "a/b/"}))):
            with self.subTest(options=options, environment=environment):
                folder = os.path.join(self.folder, str(number))
                os.mkdir(folder)
                done = self.run_it("true", options=options, environment=environment, cwd=folder, umask=0o002)
                self.assertEqual(done.returncode, 0, done.stderr)
                made = os.path.join(folder, "a/b" if "PROFILE_OUTPUT_DIR" in environment else "out")
                self.assertEqual(stat.S_IMODE(os.stat(made).st_mode), 0o700)
        os.symlink("0", os.path.join(self.folder, "link"))
        self.assert_refused(self.run_it("true", environment={"PROFTRACE_DIR": "link/"}), "a symbolic link is not followed")

    def test_what_is_kept_first_leaves_room_for_the_last(self):
        for options, environment, cause in (
                (("--keep-first", "64M", "--keep-last", "1M"), {}, "a process keeps 819 KiB at most (four fifths of --keep-last"),
                (("--keep-first", "13M", "--keep-last", "16M"), {}, "a process keeps 12.8 MiB at most (four fifths of --keep-last"),
                (("--keep-first", "256M"), {}, "a process keeps 256 MiB at most (PROFTRACE_RING_MIB)"),
                (("--keep-first", "64M", "--keep-last", "2h"), {"PROFTRACE_RING_MIB": "64"}, "64.0 MiB at most (PROFTRACE_RING_MIB)"),
                (("--keep-first", "64M"), {"PROFTRACE_BUDGET_MIB": "100"}, "60.0 MiB at most (three fifths of PROFTRACE_BUDGET_MIB)"),
                (("--keep-first", "200M", "--keep-last", "4G"), {"PROFTRACE_BUDGET_MIB": "100"}, "60.0 MiB at most (three fifths of PROFTRACE_BUDGET_MIB)"),
                (("--keep-first", "64M", "--keep-last", "64M"), {"PROFTRACE_BUDGET_MIB": "100"}, "51.2 MiB at most (four fifths of --keep-last")):
            with self.subTest(options=options):
                done = self.proftrace("run", *options, "--", "true", environment=environment)
                self.assertEqual(done.returncode, 125)
                self.assertIn("'--keep-first' leaves nothing for the latest events", done.stderr.decode())
                self.assertIn(cause, done.stderr.decode())
        self.assertEqual(self.proftrace("run", "--no-report", "--keep-first", "1M", "--keep-last", "64M", "--", "true").returncode, 0)

    def test_what_is_kept_by_an_option_wins_over_the_environment(self):
        def kept(*options, **environment):
            done = self.run_it("env", options=options, environment=environment)
            return done.returncode, dict(re.findall(r"^PROFTRACE_(KEEP_\w+)=(\w*)$", done.stdout.decode(), re.M)), done.stderr.decode()
        self.assertEqual(kept("--keep-first", "0", PROFTRACE_KEEP_FIRST_MIB="16")[:2], (0, {"KEEP_FIRST_MIB": "0"}))
        self.assertEqual(kept("--keep-last", "256M", PROFTRACE_KEEP_LAST_S="60")[:2], (0, {"KEEP_LAST_S": "0"}))
        self.assertEqual(kept("--keep-last", "2h", PROFTRACE_KEEP_LAST_S="60")[:2], (0, {"KEEP_LAST_S": "7200"}))
        self.assertEqual(kept("--keep-first", "0", "--keep-last", "64M", PROFTRACE_KEEP_FIRST_MIB="200")[:2], (0, {"KEEP_FIRST_MIB": "0"}))
        leaves_none = "the start is not kept: PROFTRACE_KEEP_FIRST_MIB leaves nothing for the latest events: a process keeps "
        for last, most, own in (("64M", "51.2 MiB", {"KEEP_FIRST_MIB": "0"}), ("2h", "256 MiB", {"KEEP_FIRST_MIB": "0", "KEEP_LAST_S": "7200"})):
            *status, said = kept("--keep-last", last, PROFTRACE_KEEP_FIRST_MIB="256")
            self.assertEqual((*status, leaves_none + most in said), (0, own, True), said)
            self.assertEqual(kept("--keep-last", last, PROFTRACE_KEEP_FIRST_MIB="16")[1]["KEEP_FIRST_MIB"], "16")
            status, _, said = kept("--keep-last", last, PROFTRACE_KEEP_FIRST_MIB="256", PROFTRACE_DISABLE="1")
            self.assertEqual((status, leaves_none in said), (0, False), said)
        self.assertEqual(kept("--keep-first", "0")[:2], (0, {}))
        self.assertIn("option '--keep-first'", kept("--keep-first", "soon")[2])

    def limits_of(self, *options, **environment):
        """What the command has in its environment, and the budget of the session, in MiB."""
        shown = self.run_it("env", options=options, environment=environment).stdout.decode()
        limits = dict(re.findall(r"^PROFTRACE_(\w+)_MIB=(\d+)$", shown, re.M))
        with open(os.path.join(self.folder, "proftrace.data/latest/session.bin"), "rb") as file:
            file.seek(BUDGET_AT)
            budget_bytes, = struct.unpack("<Q", file.read(8))
        return {name: int(mib) for name, mib in limits.items()}, budget_bytes >> 20

    def test_one_process_may_have_what_is_kept_last(self):
        """Its ring was 256 MiB all the same, and the budget a tenth of the free space."""
        usual, budget = self.limits_of()
        self.assertEqual(usual, {})
        self.assertLessEqual(budget, 4096)
        limits, _ = self.limits_of("--keep-last", "64M")
        self.assertEqual(limits, {"SESSION_RING": 64})
        limits, _ = self.limits_of("--keep-last", "512M")
        self.assertEqual(limits, {"SESSION_RING": 512, "RING": 512})
        limits, large = self.limits_of("--keep-last", "6G")
        self.assertEqual(limits, {"SESSION_RING": 6144, "RING": 6144})
        self.assertGreaterEqual(large, 8192)
        limits, own = self.limits_of("--keep-last", "6G", PROFTRACE_RING_MIB="300", PROFTRACE_BUDGET_MIB="1000")
        self.assertEqual((limits, own), ({"SESSION_RING": 6144, "RING": 300, "BUDGET": 1000}, 1000))

    def test_options_after_the_command_are_the_commands(self):
        self.assertEqual(self.run_it("echo", "--stage", "--", "x").stdout, b"--stage -- x\n")
        done = self.proftrace("run", "--no-report", "echo", "--heap", "--", "x")
        self.assertEqual(done.stdout, b"--heap -- x\n")

    def test_misspelt_command(self):
        done = self.proftrace("rnu", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"'run'", done.stderr)

    def test_install_path_with_space_or_colon(self):
        for name in ("with space", "with:colon"):
            place = os.path.join(self.folder, name)
            os.mkdir(place)
            for file in (PROFTRACE, LIBRARY):
                subprocess.run(["cp", file, place], check=True)
            done = self.proftrace("run", "true", program=os.path.join(place, "proftrace"))
            self.assert_refused(done, "cannot be preloaded", place)

    def test_library_missing(self):
        subprocess.run(["cp", PROFTRACE, self.folder], check=True)
        done = self.proftrace("run", "true", program=os.path.join(self.folder, "proftrace"))
        self.assert_refused(done, "libproftrace.so")

    def test_library_in_the_prefix(self):
        for place in ("lib", "lib/x86_64-linux-gnu", "share/proftrace/lib"):
            prefix = os.path.join(self.folder, place.replace("/", "-"))
            os.makedirs(os.path.join(prefix, "bin"))
            os.makedirs(os.path.join(prefix, place))
            subprocess.run(["cp", PROFTRACE, os.path.join(prefix, "bin")], check=True)
            subprocess.run(["cp", LIBRARY, os.path.join(prefix, place)], check=True)
            done = self.proftrace("run", "--no-report", "sh", "-c", "echo $LD_PRELOAD",
                                  program=os.path.join(prefix, "bin/proftrace"))
            self.assertEqual(done.stdout.decode().strip(), os.path.join(prefix, place, "libproftrace.so"))


class GitCommit(LauncherCase):
    """run.json names the commit that was checked out where the run was started, when it was started."""

    def environment(self):
        """Git as if nobody had told it anything: to sign commits, to keep branches in a file of another form, where the repository is. HOME
        is for a git that is too old for GIT_CONFIG_GLOBAL."""
        return {**{k: v for k, v in os.environ.items() if not k.startswith("GIT_")}, "HOME": self.folder, "XDG_CONFIG_HOME": self.folder,
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_DEFAULT_REF_FORMAT": "files",
                "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}

    def git(self, *arguments, cwd=None):
        return subprocess.run(["git", *arguments], cwd=cwd or self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, cwd=None):
        self.git("commit", "-q", "--allow-empty", "-m", "one more", cwd=cwd)
        return self.git("rev-parse", "HEAD", cwd=cwd)

    def recorded(self, folder, command=("true",)):
        done = self.run_it(*command, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.record(os.path.join(folder, "proftrace.data/latest"))["git_commit"]

    def setUp(self):
        super().setUp()
        if not shutil.which("git"):
            self.skipTest("no git")
        patch = unittest.mock.patch.dict(os.environ, self.environment(), clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        self.git("init", "-q")
        self.outer = self.commit()

    def test_who_commits_while_it_runs_does_not_change_it(self):
        commit = "git commit -q --allow-empty -m later"
        self.assertEqual(self.recorded(self.folder, ("sh", "-c", commit)), self.outer)
        self.assertNotEqual(self.git("rev-parse", "HEAD"), self.outer)
        with open(os.path.join(self.folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump({"profile": {"stages": [{"stage": "a", "cmd": ["sh", "-c", commit]}]}}, file)
        first = self.git("rev-parse", "HEAD")
        self.assertEqual(self.proftrace("pipeline").returncode, 0)
        self.assertEqual(self.record()["git_commit"], first)

    def test_a_worktree_in_its_repository(self):
        """Its .git is a file; the commit of the repository around it was taken."""
        tree = os.path.join(self.folder, "tree")
        self.git("worktree", "add", "-q", "-b", "other", tree)
        inner = self.commit(cwd=tree)
        self.assertNotEqual(inner, self.outer)
        self.assertEqual(self.recorded(tree), inner)
        os.mkdir(os.path.join(tree, "below"))
        self.assertEqual(self.recorded(os.path.join(tree, "below")), inner)
        self.git("pack-refs", "--all", cwd=tree)
        self.assertEqual(self.recorded(tree), inner)
        self.git("checkout", "-q", "--detach", cwd=tree)
        self.assertEqual(self.recorded(tree), inner)

    def test_a_submodule(self):
        """Its .git is a file with a relative path, and what it leads to has no commondir."""
        part = os.path.join(self.folder, "part")
        os.makedirs(os.path.join(self.folder, ".git/modules"))
        self.git("init", "-q", "--separate-git-dir", ".git/modules/part", part)
        with open(os.path.join(part, ".git"), "w", encoding="utf-8") as file:
            file.write("gitdir: ../.git/modules/part\n")
        self.assertEqual(self.recorded(part, ("true",)), None)  # no commit yet
        inner = self.commit(cwd=part)
        self.assertEqual(self.recorded(part), inner)

    def test_a_git_file_that_leads_nowhere(self):
        part = os.path.join(self.folder, "part")
        os.mkdir(part)
        for text in ("", "gitdir: /no/such/place\n", "something else\n", "gitdir: " + "x" * 5000 + "\n"):
            with open(os.path.join(part, ".git"), "w", encoding="utf-8") as file:
                file.write(text)
            self.assertIsNone(self.recorded(part), text)


class Directories(LauncherCase):
    def run_directory(self):
        return os.path.join(self.folder, "proftrace.data", os.readlink(os.path.join(self.folder, "proftrace.data/latest")))

    def mode(self, path):
        return stat.S_IMODE(os.stat(path).st_mode)

    def test_private_and_named(self):
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        self.run_it("sh", "-c", ":")
        run = self.run_directory()
        self.assertRegex(os.path.basename(run), r"^\d{8}-\d{6}-sh-[0-9a-f]{6}$")
        self.assertEqual(self.mode(os.path.dirname(run)), 0o700)
        self.assertEqual(self.mode(run), 0o700)
        for name in os.listdir(run):
            self.assertEqual(self.mode(os.path.join(run, name)), 0o600, name)

    def test_name_is_sanitised(self):
        path = os.path.join(self.folder, ".odd näme;|x")
        os.symlink("/bin/true", path)
        self.run_it(path)
        self.assertRegex(os.path.basename(self.run_directory()), r"^[0-9]{8}-[0-9]{6}-[A-Za-z0-9_][A-Za-z0-9._-]*-[0-9a-f]{6}$")

    def test_session_page(self):
        self.run_it("true")
        with open(os.path.join(self.run_directory(), "session.bin"), "rb") as file:
            page = file.read()
        self.assertEqual(len(page), 4096)
        self.assertEqual(page[:8], b"PROFTSES")
        budget = int.from_bytes(page[16:24], "little")
        self.assertTrue(0 < budget <= 4 << 30)
        start = int.from_bytes(page[32:40], "little") / 1e9
        self.assertLess(abs(start - time.time()), 60)

    def test_budget_is_the_users(self):
        self.run_it("true", environment={"PROFTRACE_BUDGET_MIB": "64"})
        with open(os.path.join(self.run_directory(), "session.bin"), "rb") as file:
            self.assertEqual(int.from_bytes(file.read()[16:24], "little"), 64 << 20)

    def boot_ids(self, boot_id, earlier_ns):
        """Those of a process that joins a session as made by a machine of this boot_id, which booted so much earlier."""
        directory = self.run_directory()
        with open(os.path.join(directory, "session.bin"), "r+b") as file:
            page = bytearray(file.read())
            page[32:40] = (int.from_bytes(page[32:40], "little") - earlier_ns).to_bytes(8, "little")
            page[56:56 + len(boot_id)] = boot_id
            file.seek(0)
            file.write(page)
        environment = {**clean_environment(), "LD_PRELOAD": LIBRARY, "PROFTRACE_SESSION": directory}
        subprocess.run(["/bin/true"], env=environment, check=True)
        found = set()
        for name in os.listdir(directory):
            with open(os.path.join(directory, name), "rb") as file:
                found |= set(re.findall(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", b"" if name == "session.bin" else file.read()))
        return found

    def test_each_process_has_the_boot_id_of_its_own_machine(self):
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            own = file.read().strip()
        other = b"01234567-89ab-cdef-0123-456789abcdef"
        self.run_it("true")
        self.assertEqual(self.boot_ids(own, 0), {own})
        self.assertEqual(self.boot_ids(other, 10**9), {own})
        self.assertEqual(self.boot_ids(other, -10**9), {own, other})  # of this boot: the session's is taken

    def test_more_processes_than_descriptors(self):
        """A build of thousands of processes is read with the usual 1024 descriptors, here 100 with 32: nothing is left out."""
        self.run_it("sh", "-c", "for i in $(seq 100); do /bin/true; done")
        everybody = self.proftrace("report", "--format", "json")
        few = self.proftrace("-c", "ulimit -n 32; exec \"$0\" report --format json", PROFTRACE, program="/bin/sh")
        self.assertEqual(few.stderr, b"")
        self.assertEqual(json.loads(few.stdout)["trace_quality"]["notes"], [])
        self.assertEqual(few.stdout, everybody.stdout)

    def test_latest_moves(self):
        self.run_it("true")
        first = self.run_directory()
        self.run_it("true")
        self.assertNotEqual(first, self.run_directory())
        self.assertEqual(sorted(n for n in os.listdir(os.path.join(self.folder, "proftrace.data")) if n.startswith(".")), [])

    def test_a_directory_that_is_there_may_be_refused(self):
        """A server that squashes root answers so for one that it would not let us make."""
        library = self.compile("""
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <sys/stat.h>
            #include <unistd.h>
            int mkdir(const char *path, mode_t mode)
            {
                if (access(path, F_OK) == 0) { errno = EACCES; return -1; }
                return ((int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir"))(path, mode);
            }""", "-shared", "-fPIC", name="refuses.so")
        os.makedirs(os.path.join(self.folder, "a", "b"), mode=0o700)
        for options in ("-o", f"{self.folder}/a/b/run"), ("-o", f"{self.folder}/a/b/run"), ():
            done = self.run_it("true", options=options, environment={"LD_PRELOAD": library, "PROFTRACE_DIR": f"{self.folder}/a/b"})
            if b"ASan runtime" in done.stderr:
                self.skipTest("a sanitizer wants to be the first library")
            self.assertEqual(done.returncode, 0, done.stderr)
            shutil.rmtree(os.path.join(self.folder, "a", "b", "run"), ignore_errors=True)
            os.mkdir(os.path.join(self.folder, "a", "b", "run"), mode=0o700)

    def test_output_is_the_directory_itself(self):
        done = self.run_it("true", options=("-o", "made/by run"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.record("made/by run")["exit"], "exit 0")
        self.assertEqual(self.mode(os.path.join(self.folder, "made/by run")), 0o700)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "proftrace.data")))

    def test_output_exists(self):
        path = os.path.join(self.folder, "there")
        os.mkdir(path, 0o755)
        self.assertEqual(self.run_it("true", options=("-o", "there")).returncode, 0)
        self.assertEqual(self.mode(path), 0o700)
        done = self.run_it("true", options=("-o", "there"))
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"not empty", done.stderr)
        with open(os.path.join(self.folder, "file"), "w", encoding="utf-8"):
            pass
        self.assertEqual(self.run_it("true", options=("-o", "file")).returncode, 125)

    def test_root_elsewhere_and_alias(self):
        for name in ("PROFTRACE_DIR", "PROFILE_OUTPUT_DIR"):
            root = os.path.join(self.folder, name, "deep")
            self.assertEqual(self.run_it("true", environment={name: root}).returncode, 0)
            self.assertTrue(os.path.exists(os.path.join(root, "latest/run.json")))

    def refused(self, root):
        done = self.run_it("touch", "ran", environment={"PROFTRACE_DIR": root})
        self.assertEqual(done.returncode, 125)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "ran")), "the command ran")
        self.assertEqual(len(done.stderr.decode().splitlines()), 1)
        self.assertIn(b"PROFTRACE_DIR", done.stderr)
        return done.stderr

    def test_unwritable_root(self):
        self.refused("/proc/proftrace.data")
        with open(os.path.join(self.folder, "file"), "w", encoding="utf-8"):
            pass
        self.refused("file")
        self.refused("file/below")

    def test_root_that_others_control(self):
        os.mkdir(os.path.join(self.folder, "real"))
        os.symlink("real", os.path.join(self.folder, "link"))
        self.assertIn(b"symbolic link", self.refused("link"))
        os.mkdir(os.path.join(self.folder, "open"))
        os.chmod(os.path.join(self.folder, "open"), 0o777)
        self.assertIn(b"others may write", self.refused("open"))
        if os.geteuid() == 0:
            os.mkdir(os.path.join(self.folder, "foreign"))
            os.chown(os.path.join(self.folder, "foreign"), 65534, 65534)
            self.assertIn(b"belongs to user", self.refused("foreign"))

    @unittest.skipIf(os.geteuid() != 0, "needs root to become somebody else")
    def test_unwritable_current_directory(self):
        def become_nobody():
            os.setgid(65534)
            os.setuid(65534)
        os.chmod(self.folder, 0o755)
        for path in PROFTRACE, LIBRARY:  # the build may be below a folder that is closed to others, as /root is
            shutil.copy(path, self.folder)
        done = self.run_it("true", program=os.path.join(self.folder, "proftrace"), preexec_fn=become_nobody)
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"Permission denied", done.stderr)


class NoLatest(LauncherCase):
    def said_with(self, problem):
        """As a file system whose symlink(2) fails with it. On a real one there may be nothing to remove."""
        library = self.compile("""
            #include <errno.h>
            int symlinkat(const char *to, int folder, const char *path)
            {
                errno = %s;
                return -1;
            }""" % problem, "-shared", "-fPIC", name=problem + ".so")
        done = self.run_it("true", environment={"LD_PRELOAD": library})
        if b"ASan runtime" in done.stderr:
            self.skipTest("an instrumented launcher cannot be preloaded into")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.decode()

    def test_a_file_system_without_symbolic_links(self):
        """vfat, exFAT, CIFS: each run told to remove what is not there."""
        for problem, text in ("EPERM", "Operation not permitted"), ("EOPNOTSUPP", "Operation not supported"):
            self.assertIn(f"proftrace: proftrace.data/latest could not be made to lead to this run: {text}; this file system has no symbolic links: "
                          "name the run, or set PROFTRACE_DIR to another one\n", self.said_with(problem))

    def test_what_is_in_the_way_and_what_is_not(self):
        self.assertIn("to this run: No space left on device; name the run instead\n", self.said_with("ENOSPC"))
        os.mkdir(os.path.join(self.folder, "proftrace.data/latest"))
        self.assertIn("to this run: Operation not permitted; this file system has no", self.said_with("EPERM"))
        self.assertIn("to this run: Is a directory; remove what is there\n", self.run_it("true").stderr.decode())


class Transparency(LauncherCase):
    def test_bytes_pass_untouched(self):
        data = bytes(range(256)) * 4096
        done = self.run_it("cat", input=data)
        self.assertEqual(done.stdout, data)
        done = self.run_it("sh", "-c", "cat >&2", input=b"to stderr\n", environment={"PROFTRACE_QUIET": "1"})
        self.assertEqual((done.stdout, done.stderr), (b"", b"to stderr\n"))

    def environment_of(self, *options, **environment):
        done = self.run_it(*PRINT_ENVIRONMENT, options=options, environment=environment)
        return done.stdout.decode().rstrip("\0").split("\0")

    def test_environment_gains_exactly_ours(self):
        inherited = clean_environment()
        seen = self.environment_of()
        run = os.path.realpath(os.path.join(self.folder, "proftrace.data/latest"))
        self.assertEqual(seen[: len(inherited)], [f"{k}={v}" for k, v in inherited.items()])
        added = seen[len(inherited):]
        self.assertEqual(added[:2], [f"LD_PRELOAD={LIBRARY}", f"PROFTRACE_SESSION={run}"])
        self.assertEqual(added[2:], [f"{name}={os.path.realpath(LIBRARY)}" for name in INJECTION_VARIABLES])

    def test_other_tools_keep_their_injection_variables(self):
        """Only one library can have each of them: what another tool has set stays, a switch leaves ours out."""
        seen = self.environment_of(CUDA_INJECTION64_PATH="/opt/nsys/libToolsInjection64.so", NVTX_INJECTION64_PATH="none",
                                   PROFTRACE_ITT="off")
        self.assertEqual(sorted(s for s in seen if s.startswith(INJECTION_VARIABLES)),
                         ["CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so", "NVTX_INJECTION64_PATH=none"])
        seen = self.environment_of(CUDA_INJECTION64_PATH="/old/version/libproftrace.so")
        self.assertIn(f"CUDA_INJECTION64_PATH={os.path.realpath(LIBRARY)}", seen)

    def test_options_reach_the_library(self):
        seen = self.environment_of("--heap", "full", "--stage", "train it")
        self.assertIn("PROFTRACE_HEAP=full", seen)
        self.assertIn("PROFTRACE_STAGE=train it", seen)
        self.assertEqual(self.record()["stage"], "train it")

    def test_flag_wins_over_environment(self):
        seen = self.environment_of("--heap", "off", PROFTRACE_HEAP="full", PROFTRACE_STAGE="a")
        self.assertEqual([s for s in seen if s.startswith(("PROFTRACE_HEAP", "PROFTRACE_STAGE"))],
                         ["PROFTRACE_HEAP=off", "PROFTRACE_STAGE=a"] if seen.index("PROFTRACE_HEAP=off") <
                         seen.index("PROFTRACE_STAGE=a") else ["PROFTRACE_STAGE=a", "PROFTRACE_HEAP=off"])

    def test_users_preload_stays_first(self):
        """But an allocator that stands before ours keeps malloc to itself."""
        other, allocator, sanitizer = (self.compile("int other;", "-shared", "-fPIC", name=name)
                                       for name in ("libother.so", "libjemalloc.so.9", "libasan.so.9"))
        for given, expected in ((other, f"{other}:{LIBRARY}"),
                                (f"{LIBRARY} {other}", f"{LIBRARY}:{other}"),
                                (f":{other}: {LIBRARY}", f"{other}:{LIBRARY}"),
                                (LIBRARY, LIBRARY),
                                (f"{other} {allocator}", f"{other}:{LIBRARY}:{allocator}"),
                                (f"{allocator}:{LIBRARY}:{other}", f"{LIBRARY}:{allocator}:{other}"),
                                (f"{allocator}:{sanitizer}", f"{allocator}:{sanitizer}:{LIBRARY}")):
            # Given to `env`, not to the launcher: it shall not be preloaded itself.
            done = subprocess.run(["env", f"LD_PRELOAD={given}", PROFTRACE, "run", "--no-report", "sh", "-c",
                                   "echo $LD_PRELOAD"], cwd=self.folder, env=clean_environment(),
                                  capture_output=True, check=False, timeout=200)
            if b"ASan runtime" in done.stderr:
                self.skipTest("an instrumented launcher cannot be preloaded into")
            self.assertEqual(done.stdout.decode().strip(), expected)

    def test_the_heap_of_a_program_with_a_preloaded_allocator(self):
        found = sorted(glob.glob("/usr/lib/x86_64-linux-gnu/libjemalloc.so.*"))
        if not found:
            self.skipTest("jemalloc is not installed")
        command = [sys.executable, "-c", "kept = [bytearray(20000) for _ in range(5000)]"]
        for order in "run", f"{LIBRARY}:{found[0]}", f"{found[0]}:{LIBRARY}":
            with self.subTest(order=order):
                if order == "run":
                    done = subprocess.run(["env", f"LD_PRELOAD={found[0]}", PROFTRACE, "run", "-o", "run", "--", *command], cwd=self.folder,
                                          env=clean_environment(), capture_output=True, check=False, timeout=200)
                    if b"ASan runtime" in done.stderr:
                        self.skipTest("an instrumented launcher cannot be preloaded into")
                else:
                    subprocess.run(command, cwd=self.folder, env=clean_environment() | {"LD_PRELOAD": order}, check=True, timeout=200)
                report = json.loads(self.proftrace("report", "--format", "json", *(["run"] if order == "run" else [])).stdout)
                heap, process = report["stages"][0]["heap"], report["processes"][0]["heap"]
                if order.endswith(LIBRARY):
                    self.assertEqual((heap["allocs"], process["bytes"]), (None, None))
                    self.assertIn("came before the library", heap["allocs_reason"])
                    said = [finding for finding in report["findings"] if finding["rule"] == "nothing_captured"]
                    self.assertEqual(said[0]["evidence"]["allocator"], os.path.basename(found[0]), report["findings"])
                else:
                    self.assertGreater(heap["allocs"], 1000)
                    self.assertLess(heap["allocs"], 1e9)

    def test_descriptors_and_signals_are_as_inherited(self):
        script = ("import os,signal;"
                  "print(sorted(os.listdir('/proc/self/fd'))[:-1],"
                  "[l for l in open('/proc/self/status') if l[:3] in ('Sig','Shd') and 'Q' not in l])")
        plain = subprocess.run([sys.executable, "-c", script], cwd=self.folder, env=clean_environment(),
                               capture_output=True, check=True)
        traced = self.run_it(sys.executable, "-c", script)
        self.assertEqual(traced.stdout, plain.stdout)

    def test_sockets_of_systemd_are_for_the_command(self):
        """A service takes the sockets and the watchdog that it finds only where they are meant for its pid."""
        script = ("export LISTEN_FDS=1 LISTEN_PID=$$ LISTEN_PIDFDID=1 WATCHDOG_PID=$$ SYSTEMD_EXEC_PID=1; "
                  f"exec {PROFTRACE} run --no-report -- {sys.executable} -c '{{}}'")
        shows = "import os; print(*(os.environ[name] == str(os.getpid()) for name in (\"LISTEN_PID\", \"WATCHDOG_PID\")), os.environ[\"SYSTEMD_EXEC_PID\"], os.environ.get(\"LISTEN_PIDFDID\"))"
        done = subprocess.run(["sh", "-c", script.format(shows)], cwd=self.folder, env=clean_environment(), capture_output=True,
                              text=True, check=True, timeout=200)
        self.assertEqual(done.stdout, "True True 1 None\n", "and what is meant for another process stays")

    def test_ignored_signals_stay_ignored(self):
        script = "grep -E 'SigIgn|SigBlk' /proc/self/status"

        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        plain = subprocess.run(["/bin/sh", "-c", f"exec {script}"], capture_output=True, check=True, preexec_fn=ignore)
        traced = self.run_it("/bin/sh", "-c", f"exec {script}", preexec_fn=ignore)
        self.assertEqual(traced.stdout, plain.stdout)
        self.assertEqual(traced.returncode, 0)

    def test_closed_and_full_standard_streams(self):
        for redirection in ("2>&-", "2>/dev/full", ">&-", "<&- >&- 2>&-"):
            done = subprocess.run(["sh", "-c", f"{PROFTRACE} run --no-report -- sh -c 'exit 3' {redirection}"],
                                  cwd=self.folder, env=clean_environment(), check=False, timeout=200)
            self.assertEqual(done.returncode, 3, redirection)
        # The command finds closed what was closed, and our talk lands in none of its files.
        script = f"{PROFTRACE} run --no-report -- sh -c 'ls -l /proc/self/fd/2 >list; echo x >file' 2>&-"
        subprocess.run(["sh", "-c", script + " || true"], cwd=self.folder, env=clean_environment(), check=False)
        with open(os.path.join(self.folder, "file"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "x\n")

    def test_closing_line(self):
        done = self.run_it("true")
        lines = own_lines(done.stderr)
        run = "proftrace.data/" + os.readlink(os.path.join(self.folder, "proftrace.data/latest"))
        self.assertEqual(lines[-1], f"proftrace: {run}  (next: proftrace report {run})")
        self.assertEqual(sum(run in line for line in lines), 1)
        self.assertEqual(self.run_it("true", environment={"PROFTRACE_QUIET": "1"}).stderr, b"")

    def test_closing_line_can_be_pasted(self):
        done = self.run_it("true", options=("-o", "it's a $run"))
        self.assertIn(b"(next: proftrace report 'it'\\''s a $run')\n", done.stderr)

    def test_names_do_not_reach_the_terminal_raw(self):
        stage = "s\n\033[31mred"
        self.run_it("true", options=("-o", "run", "--stage", stage))
        for arguments in (("stats", "run"), ("report", "run", "--stage", "other"), ("report", stage), (stage,),
                          ("export", "run", "--to", stage), ("run", "-o", stage, "--", "true")):
            done = self.proftrace(*arguments)
            self.assertNotIn(b"\033", done.stdout + done.stderr, arguments)

    def test_stage_too_long(self):
        self.assertEqual(self.run_it("true", options=("--stage", "x" * 127)).returncode, 0)
        done = self.run_it("true", options=("--stage", "x" * 128))
        self.assertEqual((done.returncode, b"at most 127 bytes" in done.stderr), (125, True), done.stderr)

    def test_export_of_a_range_that_ends_before_it_begins(self):
        self.run_it("true", options=("-o", "run"))
        done = self.proftrace("export", "run", "--to", "chrome", "--from", "2s", "--until", "1s")
        self.assertEqual((done.returncode, b"--from is later than --until" in done.stderr), (2, True), done.stderr)

    def test_disabled_is_a_plain_exec(self):
        """It says so in one line, unless it is to be quiet: who forgot the variable looks for a report."""
        for variable in ("PROFTRACE_DISABLE=1", "ENABLE_PROFILING=false"):
            environment = dict([variable.split("=")])
            said = f"proftrace: switched off by {variable}: the command runs alone, nothing is recorded\n".encode()
            for quiet, told in (("0", said), ("1", b"")):
                done = self.run_it("sh", "-c", "echo $LD_PRELOAD$PROFTRACE_SESSION; exit 4",
                                   environment={**environment, "PROFTRACE_QUIET": quiet})
                self.assertEqual((done.returncode, done.stdout, done.stderr), (4, b"\n", told))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "proftrace.data")))

    def test_our_own_switch_wins_over_its_alias(self):
        """As in the library: the launcher ran the command alone, a bare preload recorded it."""
        for own, alias, is_recorded in (("0", "false", True), ("no", "0", True), ("1", "true", False), ("maybe", "false", False)):
            environment = {"PROFTRACE_DISABLE": own, "ENABLE_PROFILING": alias}
            done = self.run_it("sh", "-c", "echo $PROFTRACE_SESSION", environment=environment)
            self.assertEqual((done.returncode, done.stdout != b"\n"), (0, is_recorded), environment)
            root = os.path.join(self.folder, f"{own}-{alias}")
            subprocess.run(["true"], env=clean_environment(LD_PRELOAD=LIBRARY, PROFTRACE_DIR=root, **environment), check=True)
            self.assertEqual(os.path.exists(root), is_recorded, environment)

    def test_a_long_name_is_one_stage(self):
        """The kernel keeps 15 bytes of a program's name, the library 127 of a stage's: what the launcher says is the same."""
        for name in ("a" * 15, "a" * 16, "train_detector_on_coco.sh", "b" * 200, "n\u00e4me-\u4f60\u597d-\u4f60\u597d", "\udcff-name-of-bytes", "two\nlines"):
            with self.subTest(name=name):
                path = os.path.join(self.folder, name)
                with open(path, "w", encoding="utf-8", errors="surrogateescape") as script:
                    script.write("#!/bin/sh\nsleep 0.1\n")
                os.chmod(path, 0o755)
                self.run_it(path, options=("-o", f"run-{len(os.listdir(self.folder))}"))
                run = max((entry for entry in os.scandir(self.folder) if entry.name.startswith("run-")), key=lambda entry: entry.stat().st_mtime_ns)
                report = json.loads(self.proftrace("report", "--format", "json", run.path).stdout)
                self.assertEqual(len(report["stages"]), 1, [stage["stage"] for stage in report["stages"]])
                self.assertNotIn("nothing_captured", [finding["rule"] for finding in report["findings"]])
        for stage in ("a\udcff", "x" * 127, "\u4f60" * 42):
            self.run_it("true", options=("-o", f"named-{len(stage)}", "--stage", stage))
            report = json.loads(self.proftrace("report", "--format", "json", f"named-{len(stage)}").stdout)
            self.assertEqual(len(report["stages"]), 1, [one["stage"] for one in report["stages"]])

    def test_the_first_traced_program_has_another_name(self):
        """The library would call the stage `sh`, or what a static launcher starts, and the command's own captured nothing."""
        script = os.path.join(self.folder, "train.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write("sleep 0.1\nexit 0\n")  # no #! line: /bin/sh runs it
        os.chmod(script, 0o755)
        static = self.compile("#include <unistd.h>\nint main(int n, char **words){return n > 1 ? execv(words[1], words + 1) : 1;}", "-static", name="starter")
        interpreted = os.path.join(self.folder, "by_starter")
        with open(interpreted, "w", encoding="utf-8") as file:
            file.write(f"#!{static} /bin/sleep\n")  # sleep gets the file's name as its own argument, and fails
        os.chmod(interpreted, 0o755)
        for number, command in enumerate(([script], [static, "/bin/sleep", "0.1"], [interpreted])):
            with self.subTest(command=command):
                run = f"other-name-{number}"
                self.run_it(*command, options=("-o", run))
                report = json.loads(self.proftrace("report", "--format", "json", run).stdout)
                self.assertEqual([stage["stage"] for stage in report["stages"]], [os.path.basename(command[0])])
                self.assertNotIn("nothing_captured", [finding["rule"] for finding in report["findings"]])

    def test_reports_go_through_no_link_and_wait_for_no_reader(self):
        """The command can write into the run directory: what it puts there under our names is replaced, and nothing else is touched."""
        victim = os.path.join(self.folder, "victim")
        os.mkdir(victim)
        with open(os.path.join(victim, "file"), "w", encoding="utf-8") as file:
            file.write("precious")
        plant = (f"ln -s {victim}/file run/report.json.part; mkfifo run/report.md; mkfifo run/report.html.part; ln -s {victim} run/charts; "
                 f"ln -s {victim}/file run/report.html; sleep 0.05")
        self.assertEqual(self.proftrace("run", "-o", "run", "--", "sh", "-c", plant).returncode, 0)
        self.assertEqual((os.listdir(victim), open(os.path.join(victim, "file"), encoding="utf-8").read()), (["file"], "precious"))
        for name in ("report.json", "report.md", "report.html"):
            self.assertTrue(stat.S_ISREG(os.lstat(os.path.join(self.folder, "run", name)).st_mode), name)
        self.assertEqual([name for name in os.listdir(os.path.join(self.folder, "run")) if name.endswith(".new")], [])

    def test_an_empty_switch_switches_nothing(self):
        """An empty variable is one that a shell did not unset: for the launcher and for the library."""
        for variable in ("PROFTRACE_DISABLE", "ENABLE_PROFILING"):
            done = self.run_it("sh", "-c", "echo $PROFTRACE_SESSION", options=("-o", variable), environment={variable: ""})
            self.assertNotEqual(done.stdout, b"\n", variable)
            info = json.loads(self.proftrace("info", "--json", variable).stdout)
            self.assertGreaterEqual(len(info["processes"]), 1, variable)

    def test_arguments_with_spaces_and_bytes(self):
        done = self.run_it("printf", "[%s]", "a b", "", "näme", "*", "'")
        self.assertEqual(done.stdout, "[a b][][näme][*][']".encode())


class Exported(LauncherCase):
    """LD_PRELOAD without the launcher."""

    def with_library(self, *command, preload=LIBRARY, **environment):
        more = {"PROFTRACE_DIR": os.path.join(self.folder, "runs"), "LD_PRELOAD": preload, **environment}
        return subprocess.run(command, env=clean_environment(**more), cwd=self.folder, capture_output=True, timeout=60, check=False)

    def names_of_runs(self):
        return sorted(name for name in os.listdir(os.path.join(self.folder, "runs")) if name != "latest")

    def test_the_command_makes_no_run_of_itself(self):
        """`proftrace report` was the latest run, and reported on itself."""
        self.assertEqual(self.with_library("/bin/cat", "/etc/passwd").returncode, 0)
        before = self.names_of_runs()
        shutil.copy(PROFTRACE, os.path.join(self.folder, "other_name"))
        for program in PROFTRACE, "./other_name":
            for arguments in (["info", "runs", "--json"], ["report", "runs"], ["doctor"], ["version"]):
                done = self.with_library(program, *arguments)
                self.assertEqual(self.names_of_runs(), before, arguments)
                if arguments[0] == "report":
                    self.assertIn(b"cat", done.stdout)

    def test_what_the_command_runs_is_recorded(self):
        done = self.with_library(PROFTRACE, "run", "-o", "run", "--no-report", "--", "/bin/cat", "/etc/passwd")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs")))
        shown = json.loads(self.proftrace("info", "run", "--json").stdout)
        self.assertGreater(shown["events"]["recorded"], 0)

    def test_two_installations_record_once(self):
        """LD_PRELOAD names a second copy, as of a wheel beside a package: every figure was there twice."""
        os.mkdir(os.path.join(self.folder, "other"))
        other = shutil.copy(LIBRARY, os.path.join(self.folder, "other"))
        for preload in f"{other}:{LIBRARY}", f"{LIBRARY}:{other}":
            runs = os.path.join(self.folder, "runs")
            shutil.rmtree(runs, ignore_errors=True)
            done = self.with_library("/bin/cat", "/etc/passwd", preload=preload)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(len(self.names_of_runs()), 1)
            report = json.loads(self.proftrace("report", "runs", "--format", "json").stdout)
            self.assertEqual(len(report["processes"]), 1, preload)


class Secrets(LauncherCase):
    def test_arguments_are_redacted(self):
        """No secret here can be in the name of a temporary folder."""
        arguments = ["--password=hunter-2", "--token", "tok-123456", "API_KEY=abc-678", "-H", "Authorization: Bearer xyz-9.abc-678",
                     "AKIAABCDEFGHIJKLMNOP", "https://joe:pw-99@host/x?token=query-1&y=2", "--max-tokens=77", "--tokenizer", "bert"]
        self.run_it("true", *arguments)
        path = os.path.join(self.folder, "proftrace.data/latest/run.json")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for secret in ("hunter-2", "tok-123456", "abc-678", "xyz-9", "AKIAABC", "pw-99", "query-1"):
            self.assertNotIn(secret, text)
        self.assertEqual(self.record()["command"],
                         ["true", "--password=***", "--token", "***", "API_KEY=***", "-H", "Authorization: Bearer ***",
                          "***", "https://joe:***@host/x?token=***&y=2", "--max-tokens=77", "--tokenizer", "bert"])


class Targets(LauncherCase):
    HELLO = '#include <stdio.h>\n#include <stdlib.h>\nint main(void){puts(getenv("LD_PRELOAD")?"preloaded":"plain");return 5;}'

    def with_exported(self, path, preload):
        """As by `export LD_PRELOAD=...` in a shell: the launcher has our library, and the variables for injection, from there."""
        return self.run_it(path, environment={"LD_PRELOAD": preload, **dict.fromkeys(INJECTION_VARIABLES, LIBRARY), "CUDA_INJECTION64_PATH": "/opt/another.so"})

    def untraced(self, path, reason, preloaded=False):
        done = self.run_it(path)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(done.stdout, b"preloaded\n" if preloaded else b"plain\n")
        if b"ASan runtime" not in self.with_exported("/bin/true", LIBRARY).stderr:
            again = self.with_exported(path, LIBRARY)
            self.assertEqual((again.returncode, again.stdout), (done.returncode, done.stdout), again.stderr)
            self.assertNotIn(b"ERROR", again.stderr)
            shutil.rmtree(os.path.join(self.folder, "proftrace.data"))
            done = self.run_it(path)
        self.assertNotIn(b"ERROR", done.stderr)
        untraced = self.record()["untraced"]
        self.assertEqual(len(untraced), 1)
        self.assertIn(reason, untraced[0]["reason"])
        self.assertIn(f"was not traced: {untraced[0]['reason']}", done.stderr.decode())
        shown = self.proftrace("info")
        self.assertEqual((shown.returncode, shown.stderr), (0, b""))
        self.assertIn(f": {untraced[0]['path']}: {untraced[0]['reason']} ", " ".join(shown.stdout.decode().split()))

    def test_ordinary(self):
        done = self.run_it(self.compile(self.HELLO))
        self.assertEqual((done.returncode, done.stdout), (5, b"preloaded\n"))
        self.assertEqual(self.record()["untraced"], [])

    def test_static(self):
        # It does not see the library, but what it starts may: LD_PRELOAD stays.
        self.untraced(self.compile(self.HELLO, "-static"), "static", preloaded=True)

    def test_static_pie(self):
        self.untraced(self.compile(self.HELLO, "-static-pie"), "static", preloaded=True)

    def test_musl(self):
        self.untraced(self.compile(self.HELLO, compiler="musl-gcc"), "musl")

    def test_what_others_preload_into_an_untraced_program_stays(self):
        other = self.compile("int nothing;", "-shared", "-fPIC", "-nostdlib", name="other.so")
        source = """
            #include <stdio.h>
            #include <stdlib.h>
            static void say(const char *name) { printf("%s=%s\\n", name, getenv(name) ? getenv(name) : "unset"); }
            int main(void)
            {
                say("LD_PRELOAD"); say("CUDA_INJECTION64_PATH"); say("NVTX_INJECTION64_PATH"); say("INTEL_LIBITTNOTIFY64");
                return 0;
            }"""
        program = self.compile(source, compiler="musl-gcc")
        for preload, left in ((f"{other}:{LIBRARY}", other), (f"{LIBRARY} {other}", other), (LIBRARY, "unset"), (f"{other} {other}", f"{other} {other}")):
            done = self.with_exported(program, preload)
            if b"ASan runtime" in done.stderr:
                self.skipTest("an instrumented launcher cannot be preloaded into")
            self.assertEqual(self.record()["untraced"][0]["path"], program)
            self.assertEqual(done.stdout.decode().splitlines(), [f"LD_PRELOAD={left}", "CUDA_INJECTION64_PATH=/opt/another.so", "NVTX_INJECTION64_PATH=unset", "INTEL_LIBITTNOTIFY64=unset"])

    def test_32_bit(self):
        self.untraced(self.compile(self.HELLO, "-m32"), "32-bit")

    def test_sanitizer(self):
        self.untraced(self.compile(self.HELLO, "-fsanitize=address", compiler="gcc"), "sanitizer")

    @unittest.skipIf(os.geteuid() != 0, "needs root to make one")
    def test_setuid(self):
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest("this file system knows no set-user-ID")
        path = self.compile(self.HELLO)
        os.chown(path, 65534, 65534)
        os.chmod(path, 0o4755)
        os.chmod(self.folder, 0o755)
        self.untraced(path, "setuid")

    def test_script_of_an_untraceable_interpreter(self):
        interpreter = self.compile(self.HELLO, compiler="musl-gcc")
        script = os.path.join(self.folder, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!{interpreter} -x\n")
        os.chmod(script, 0o755)
        self.untraced(script, "musl")

    def test_loader_called_by_name(self):
        done = self.run_it("/lib64/ld-linux-x86-64.so.2", self.compile(self.HELLO))
        self.assertEqual(done.stdout, b"preloaded\n")
        self.assertEqual(self.record()["untraced"], [])

    def test_what_traced_programs_start(self):
        """The loader, by name, loads us, too; a static program that is started five times is one program."""
        static = self.compile(self.HELLO, "-static", name="static")
        script = f"/lib64/ld-linux-x86-64.so.2 {self.compile(self.HELLO)}; for i in 1 2 3 4 5; do {static}; done; :"
        self.assertEqual(self.run_it("/bin/sh", "-c", script).stdout, b"preloaded\n" * 6)
        info = json.loads(self.proftrace("info", "--json").stdout)
        self.assertEqual([(row["path"], row["times"]) for row in info["untraced"]], [(static, 5)])
        shown = " ".join(self.proftrace("info").stdout.decode().split())
        self.assertIn(f"{static}: static program", shown)
        self.assertIn(", 5 times", shown)
        report = json.loads(self.proftrace("report", "--format", "json").stdout)
        self.assertEqual([(row["exe"], row["times"]) for row in report["processes"] if not row["traced"]], [(static, 5)])
        self.assertEqual(report["trace_quality"]["untraced"], 1)


if __name__ == "__main__":
    unittest.main()
