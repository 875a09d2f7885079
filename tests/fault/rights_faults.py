# SPDX-License-Identifier: MIT
"""T28, T54: programs that give up their user or their root directory, after which they cannot open their trace files."""
import os
import platform
import shutil
import subprocess

from harness import FaultCase, SETTINGS, clean_environment, run_command
from run_trace import Trace

BOTH = ("full", "sampled")

# Each vfork child makes a copy of its environment in the memory of its parent, and cannot release it.
STARTS_MANY = """
import subprocess
def pages():
    ranges = [line.split()[0].split("-") for line in open("/proc/self/maps") if line.rstrip().endswith(" 0")]
    return sum(int(end, 16) - int(start, 16) for start, end in ranges) >> 12
def start(n):
    for _ in range(n):
        subprocess.run(["./hello"], check=True, stdout=subprocess.DEVNULL)
start(3)
before = pages()
start(40)
after = pages()
if after >= before + 40:
    print(before, after)
"""


class RightsFaults(FaultCase):
    def setUp(self):
        super().setUp()
        if os.geteuid():
            self.skipTest("needs root")
        if tuple(int(part) for part in platform.release().split("-", maxsplit=1)[0].split(".")[:2]) < (5, 14):
            self.skipTest("the kernel cannot be asked for pages (Linux 5.14)")

    def notes(self, trace):
        return [note for note in trace.report()["trace_quality"]["notes"] if not note.startswith("no run.json")]

    def test_t54_a_server_that_drops_root_goes_on(self):
        """44 % of the events of nginx were lost: one segment was all that a worker had."""
        for way in ("setuid", "chroot", "both"):
            with self.subTest(way=way):
                trace = self.check(["given_up_rights", way], modes=BOTH)
                self.assertEqual(self.notes(trace), [])

    def test_t54_children_that_are_forked_afterwards(self):
        for way in ("setuid", "chroot"):
            with self.subTest(way=way):
                trace = self.check(["given_up_rights", way, "4"], modes=BOTH)
                self.assertEqual(len(trace.processes()), 5)
                self.assertEqual(self.notes(trace), [])

    def test_t54_a_process_that_was_small_until_then(self):
        """It shares a file with others, and could not open one of its own afterwards."""
        for way in ("setuid", "chroot", "both", "shared", "pivot", "landlock", "setfsuid"):
            with self.subTest(way=way):
                if way == "pivot" and subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True, check=False).returncode:
                    self.skipTest("a mount namespace of its own is not allowed here")
                trace = self.check(["given_up_rights", way, "4", "early"], modes=BOTH)
                self.assertEqual(len(trace.processes()), 5)
                self.assertEqual(self.notes(trace), [])

    def test_t54_files_that_no_child_took_in_a_copy(self):
        """Copied with all their zeros they were "processes that ended before their traces began", and made up for files that are missing."""
        trace = self.check(["given_up_rights", "setuid", "1"])
        made = [os.path.join(trace.run, name) for name in trace.files() if name.startswith("child-of-")]
        spare = [file for file in made if not os.stat(file).st_blocks]
        self.assertEqual(len(spare), 3)
        for file in spare:
            with open(file, "r+b") as out:
                out.write(bytes(os.stat(file).st_size))
            self.assertTrue(os.stat(file).st_blocks)
        self.assertEqual(self.notes(Trace(trace.proftrace, trace.run)), [])

    def test_t54_more_children_than_there_are_files_for(self):
        """They are counted, with the true reason."""
        trace = self.check(["given_up_rights", "setuid", "9"])
        self.assertEqual(len(trace.processes()), 5)
        self.assertEqual([note.split(":")[0] for note in self.notes(trace)], ["5 processes were not recorded"])
        self.assertIn("as another user", self.notes(trace)[0])

    def test_t54_programs_that_are_started_afterwards_are_listed(self):
        trace = self.check(["given_up_rights", "setuid", "2", "exec"])
        untraced = trace.info()["untraced"]
        self.assertEqual({program["path"] for program in untraced}, {"/bin/true"}, untraced)
        self.assertIn("another user", untraced[0]["reason"])

    def let_others_in(self, work):
        for folder in (self.scratch, work):
            os.chmod(folder, 0o711)

    def make_theirs(self, work):
        """A folder of the user 65534."""
        self.let_others_in(work)
        os.mkdir(f"{work}/theirs", 0o700)
        os.chown(f"{work}/theirs", 65534, 65534)

    def test_t54_no_run_in_the_folder_of_the_other_user(self):
        """It had a run of its own there, which nobody had asked for."""
        self.need("setpriv")
        environment = self.preload_environment(clean_environment(), "sampled")
        del environment["PROFTRACE_DIR"]
        self.fresh_work(self.make_theirs)
        done = run_command(["sh", "-c", "cd theirs; setpriv --reuid=65534 --clear-groups /bin/echo hello; :"], self.work, environment)
        self.assertEqual((done.status, done.out, done.err), (0, b"hello\n", b""))
        self.assertEqual(os.listdir(f"{self.work}/theirs"), [])
        untraced = Trace(SETTINGS.proftrace, f"{self.work}/proftrace.data/latest").info()["untraced"]
        self.assertEqual([program["path"] for program in untraced], ["/bin/echo"])
        self.assertIn("another user", untraced[0]["reason"])

    def test_t54_what_a_program_of_another_user_starts(self):
        """It recorded nothing and took us away from no program: one with AddressSanitizer ended."""
        self.need("setpriv")

        def setup(work):
            self.let_others_in(work)
            with open(f"{work}/hello.c", "w", encoding="ascii") as file:
                file.write("#include <stdio.h>\nint main(void) { return puts(\"hello\") < 0; }\n")
            made = subprocess.run(["gcc", "-fsanitize=address", "-o", f"{work}/hello", f"{work}/hello.c"], capture_output=True, check=False)
            if made.returncode:
                self.skipTest("gcc has no AddressSanitizer here")

        for root in ("proftrace.data", f"{self.scratch}/absolute"):
            with self.subTest(root=root):
                environment = self.preload_environment(clean_environment(), "sampled") | {"PROFTRACE_DIR": root}
                self.fresh_work(setup)
                done = run_command(["setpriv", "--reuid=65534", "--clear-groups", "sh", "-c", "./hello; echo $?"], self.work, environment)
                self.assertEqual((done.status, done.out, done.err), (0, b"hello\n0\n", b""))
                server = "import os; os.setgid(65534); os.setuid(65534); os.system('./hello; echo $?')"
                done = run_command(["/usr/bin/python3", "-c", server], self.work, environment)
                self.assertEqual((done.status, done.out, done.err), (0, b"hello\n0\n", b""))
                done = run_command(["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", STARTS_MANY], self.work, environment)
                self.assertEqual((done.status, done.out, done.err), (0, b"", b""))

    def test_t54_a_program_of_another_user_may_be_given_a_folder(self):
        """By what is started as that user, and records nothing itself: `su -c`, the script of a container."""
        self.need("setpriv")
        environment = self.preload_environment(clean_environment(), "sampled")
        del environment["PROFTRACE_DIR"]
        self.fresh_work(self.make_theirs)
        done = run_command(["setpriv", "--reuid=65534", "--clear-groups", "env", f"PROFTRACE_DIR={self.work}/theirs", "/bin/echo", "hello"], self.work, environment)
        self.assertEqual((done.status, done.out, done.err), (0, b"hello\n", b""))
        self.assertIn("latest", os.listdir(f"{self.work}/theirs"))

    def test_t54_bare_name_without_the_path_that_found_it(self):
        """A server that becomes another user starts a program that has a run of its own: the loader printed an error into it."""
        def setup(work):
            shutil.copy(SETTINGS.lib, f"{work}/libproftrace.so")
            os.chmod(f"{work}/libproftrace.so", 0o755)
            self.make_theirs(work)

        environment = self.preload_environment(clean_environment(), "sampled", preload="libproftrace.so") | {"LD_LIBRARY_PATH": self.work}
        self.fresh_work(setup)
        script = ("import os\nos.setgid(65534); os.setuid(65534); del os.environ['LD_LIBRARY_PATH']\n"
                  f"os.environ['PROFTRACE_DIR'] = '{self.work}/theirs'\n"
                  "os.waitpid(os.posix_spawn('/bin/echo', ['echo', 'hello'], os.environ), 0)\n")
        done = run_command(["/usr/bin/python3", "-c", script], self.work, environment)
        self.assertEqual((done.status, done.out, done.err), (0, b"hello\n", b""))
        self.assertIn("latest", os.listdir(f"{self.work}/theirs"))

    def test_t54_a_program_that_gains_rights_only_now(self):
        """What was found of it as root does not hold for who is root no more."""
        def setup(work):
            os.chmod(self.scratch, 0o711)
            shutil.copy("/bin/true", f"{work}/not_ours")
            os.chmod(f"{work}/not_ours", 0o4755)
        script = ("import os\n"
                  "def start(): print(os.waitpid(os.posix_spawn('./not_ours', ['not_ours'], os.environ), 0)[1])\n"
                  "start(); start(); os.setgid(65534); os.setuid(65534); start()\n")
        trace = self.check(["/usr/bin/python3", "-c", script], setup=setup, modes=BOTH, claims=False)
        untraced = [(program["path"], program["reason"].split(" when")[0]) for program in trace.info()["untraced"]]
        self.assertEqual(untraced, [("./not_ours", "gains rights")])

    def test_t28_where_the_mount_gives_no_rights(self):
        """A setuid program there runs as its caller, with us."""
        disk = os.path.join(self.scratch, "disk")
        os.makedirs(disk)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "nosuid", "none", disk], capture_output=True, text=True, check=False)
        if done.returncode:
            self.skipTest(f"cannot mount here: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        shutil.copy("/bin/true", f"{disk}/not_ours")
        os.chown(f"{disk}/not_ours", 65534, 65534)
        os.chmod(f"{disk}/not_ours", 0o6755)
        trace = self.check(["bash", "-c", f"{disk}/not_ours; :"], modes=BOTH, claims=False)
        self.assertEqual(trace.info()["untraced"], [])
        self.assertIn(f"{disk}/not_ours", [process["exe"] for process in trace.report()["processes"] if process["traced"]])

    def test_t28_where_another_mount_gives_rights(self):
        """What was found of a setuid program by a mount that gives none was taken for true where another one gives them."""
        disk = os.path.join(self.scratch, "disk")
        bound = os.path.join(self.scratch, "bound")
        for folder in (disk, bound):
            os.makedirs(folder)
        for command in (["mount", "-t", "tmpfs", "none", disk], ["mount", "--bind", disk, bound], ["mount", "-o", "remount,bind,nosuid", bound]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                self.skipTest(f"cannot mount here: {done.stderr.strip()}")
            if "remount,bind,nosuid" not in command:
                self.addCleanup(subprocess.run, ["umount", "-l", command[-1]], check=False)
        shutil.copy("/bin/true", f"{disk}/not_ours")
        os.chown(f"{disk}/not_ours", 65534, 65534)
        os.chmod(f"{disk}/not_ours", 0o6755)
        for order in ((bound, disk), (disk, bound)):
            with self.subTest(order=order):
                script = ("import os\n"
                          f"for folder in {order}: print(os.waitpid(os.posix_spawn(f'{{folder}}/not_ours', ['x'], os.environ), 0)[1])\n")
                trace = self.check(["/usr/bin/python3", "-c", script], modes=("sampled",), claims=False)
                self.assertEqual([program["path"] for program in trace.info()["untraced"]], [f"{disk}/not_ours"])

    def test_t54_with_little_room(self):
        """SIGXFSZ for the files of children ended the program; 64 MiB for them took its address space."""
        for limits in ("-f 8192", "-v 98304", "-f 8192; ulimit -v 8388608"):
            with self.subTest(limits=limits):
                self.check(["bash", "-c", f"ulimit {limits}; exec {self.host('little_room')}"], modes=BOTH, claims=False)

    def test_t54_on_a_disk_that_fills(self):
        """Blocks are asked for when they are needed; a full disk is no SIGBUS."""
        disk = os.path.join(self.scratch, "disk")
        os.makedirs(disk)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], capture_output=True, text=True, check=False)
        if done.returncode:
            self.skipTest(f"cannot mount here: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        self.root = os.path.join(disk, "traces")
        self.check(["given_up_rights", "setuid", "3"], modes=("sampled",), claims=False, options={"budget_mib": 64})
