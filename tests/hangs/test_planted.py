# SPDX-License-Identifier: MIT
"""Hangs whose cause is known: `proftrace stacks` names it, with the place; and of what is only slow it says no such thing."""
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
BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build"))
PROFTRACE = os.path.join(BUILD, "proftrace")
PYTHON = "/usr/bin/python3"
OURS = ("PROFTRACE_", "ENABLE_PROFILING", "PROFILE_OUTPUT_DIR", "LD_PRELOAD")
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}

# Name of the program in hang.c or planted.py: what its first lines have to say, cause and place.
C_HANGS = {
    "two": (r"^deadlock: .*waits for the mutex", r"take_second \(hang\.c:\d+\)"),
    "three": (r"^deadlock: .*waits for the mutex", r"take_second \(hang\.c:\d+\)"),
    "forked": (r"^hang: .*forked while thread \d+ of process \d+ held the mutex", r"lock_in_child \(hang\.c:\d+\)"),
    "ended": (r"^hang: .*thread \d+, which held the mutex, is not there: it ended", r"after_it_ended \(hang\.c:\d+\)"),
    "rwlock": (r"^deadlock: .*waits for the reader-writer lock at \S+, held by thread", r"look_up \(hang\.c:\d+\)"),
    "news": (r"^hang: .*waits for a condition variable .* nobody else is there", r"wait_for_news \(hang\.c:\d+\)"),
    "pipes": (r"^deadlock: .*waits for room to write to descriptor \d+ \(pipe:\[\d+\], read by process", r"fill \(hang\.c:\d+\)"),
    "spin": (r"runs in", r"spin \(hang\.c:\d+\)"),
}
PYTHON_HANGS = {
    "python_locks": (r"^deadlock: these threads wait only for one another", r"wants_the_other \(planted\.py:\d+\).*wants_the_other"),
    "gil_held_by_c": (r"sleeps until a time and holds the GIL, for which others wait", r"forgets_the_gil \(planted\.py:\d+\)"),
    "dead_worker": (r"^hang: .*an item of a queue from another process.*written by nobody but this process(?s:.*)was killed by SIGKILL", r"take_result \(planted\.py:\d+\)"),
    "missing_rank": (r"that processes share", r"2 in \S*all_reduce.*1 in \S*load_shard|1 in \S*load_shard"),
    "import_lock": (r"^deadlock: .*a module that another thread is importing", r"at_import \(starts_a_thread\.py:7\).*helper \(starts_a_thread\.py:3\)"),
    "lost_future": (r"^hang: .*something for its event loop to do: .*connected to nobody but this process", r"lost_future \(planted\.py:\d+\)"),
    "child_whose_output_nobody_reads": (r"^deadlock: .*wants a child to end.*\(sh\) waits for room to write to descriptor 1 \(pipe", r"wait_for_child \(planted\.py:\d+\)"),
    "executor_in_itself": (r"^deadlock: .*wants the result of an executor", r"outer \(planted\.py:\d+\)"),
    "queue_without_producer": (r"^deadlock: .*wants an item of a queue", r"consume \(planted\.py:\d+\)"),
    "silent_server": (r"^hang: .*waits for a semaphore(?s:.*)^waiting for that: \d+ in fetch", r"handle \(planted\.py:\d+\)"),
    "fifo_without_writer": (r"opens \S+/samples, a FIFO: until somebody opens its other end", r"open_samples \(planted\.py:\d+\)"),
    "locked_file": (r"waits for the lock of the file of descriptor 3 \(\S+/lock, .*held by process \d+", r"save_checkpoint \(planted\.py:\d+\)"),
    "stuck_file_system": (r"waits for data from descriptor 3 \(\S+/shard-7, on fuse\.stuck, whose server has not answered\)", r"read_shard \(planted\.py:\d+\)"),
    "silent_name_server": (r"wants the address of a host \(DNS\): waits for descriptor \d+ \(UDP to 127\.0\.0\.1:53\)", r"find_host \(planted\.py:\d+\)"),
    "no_memory": (r"^no memory: .*times per second the kernel reads back", r"touch \(planted\.py:\d+\)"),
    "killed_loader": (r"wants a batch of its loader's workers(?s:.*)was killed by SIGKILL", r"killed_loader \(planted\.py:\d+\)"),
    "stuck_loader": (r"waits for a semaphore .* wants a batch of its loader's workers", r"__getitem__ \(planted\.py:\d+\)"),
}
ONLY_SLOW = ("sleeps", "computes", "idle_server", "event_loop_with_timer", "slow_producer", "waits_for_input", "waits_to_be_ended",
             "idle_pool", "slow_children", "slow_answer", "busy_lock")
PLAYED, NAMED, SKIPPED = set(), [], {}
LEAST_NAMED = 19
MEMORY_GROUPS = "/sys/fs/cgroup/memory"


def said(look):
    """As people have it: where the cause is not proven, what is waited for comes first."""
    return "\n".join([look["summary"], *(line for line in look["conclusions"] if line != look["summary"])])


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="planted-")
        cls.program = os.path.join(cls.folder, "hang")
        subprocess.run(["cc", "-O1", "-g", "-D_GNU_SOURCE", os.path.join(HERE, "hang.c"), "-o", cls.program, "-lpthread"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *command):
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT, cwd=self.folder,
                                   start_new_session=True)
        self.addCleanup(program.wait)
        self.addCleanup(os.killpg, program.pid, signal.SIGKILL)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.stdin.close)
        said = program.stdout.readline()
        if said.startswith("impossible here: "):
            self.skipTest(said)
        ready, *program.words = said.split() or [None]
        self.assertEqual(ready, "ready")
        return program

    def skipTest(self, reason):
        SKIPPED[self.id().rpartition("_hang_")[2]] = reason
        super().skipTest(reason)

    def test_zz_at_least_19_are_named(self):
        """Of those that this machine could play, all but as many as may be missed; what it could not is told by name. It is the last."""
        hangs = [name for name in dir(self) if name.startswith("test_hang_")]
        named = [one for one in NAMED if "_hang_" in one]
        print(f"{len(named)} of {len(hangs)} planted hangs were named" + "".join(f"; {name} was not played: {why}" for name, why in SKIPPED.items()), file=sys.stderr)
        if len(PLAYED) + len(SKIPPED) < len(hangs):
            super().skipTest("not all of the hangs were played")
        self.assertGreaterEqual(len(named), min(LEAST_NAMED, len(hangs) - len(SKIPPED)))

    def test_hang_stopped_child(self):
        program = self.start(self.program, "stopped")
        child = int(program.words[0])
        os.kill(child, signal.SIGSTOP)
        self.is_named(program.pid, rf"^stopped: process {child} .*`kill -CONT {child}` lets it go on; thread {program.pid} waits for it", "stopped")

    def start_python(self, name, *arguments, within=()):
        run = self.path(f"run-{name}")
        self.start(PROFTRACE, "run", "--no-report", "-o", run, "--", *within, PYTHON, os.path.join(HERE, "planted.py"), name, *arguments)
        return run

    def ask(self, of):
        done = subprocess.run([PROFTRACE, "stacks", "--format", "json", str(of)], env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def is_named(self, of, cause, place):
        """It may just be on its way to where it hangs."""
        PLAYED.add(self.id())
        until = time.monotonic() + 30
        while True:
            text = said(self.ask(of))
            if re.search(cause, text, re.M) and re.search(place, text):
                NAMED.append(self.id())
                return
            if time.monotonic() > until:
                self.assertRegex(text, re.compile(cause, re.M))
                self.assertRegex(text, place)
            time.sleep(0.1)


def c_hang(name):
    def test(self):
        self.is_named(self.start(self.program, name).pid, *C_HANGS[name])
    return test


def arguments_of(self, name):
    """What a program needs around it: (arguments, command before it). Skips where this machine does not have it."""
    if name == "locked_file":
        return (self.path("lock"),), ()
    if name == "stuck_file_system":
        if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
            self.skipTest("needs root and /dev/fuse")
        folder = tempfile.mkdtemp(dir=self.folder)
        self.addCleanup(subprocess.run, ["umount", "-l", folder], check=False)
        return (folder,), ()
    if name == "silent_name_server":
        if os.geteuid() != 0:
            self.skipTest("needs root, for a name server of its own")
        with open(self.path("resolv.conf"), "w", encoding="ascii") as file:
            file.write("nameserver 127.0.0.1\n")
        setup = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
        within = ("unshare", "-mn", "sh", "-c", setup, self.path("resolv.conf"))
        tried = subprocess.run([*within, "true"], capture_output=True, text=True, check=False)
        if tried.returncode:
            self.skipTest(f"a name server of its own is not allowed: {tried.stderr.strip()}")
        return (), within
    if name == "no_memory":
        group = os.path.join(MEMORY_GROUPS, f"proftrace-test-{os.getpid()}")
        try:
            os.mkdir(group)
            self.addCleanup(remove_group, group)
            with open(os.path.join(group, "memory.limit_in_bytes"), "w", encoding="ascii") as limit:
                limit.write("30000000")
        except OSError as problem:
            self.skipTest(f"needs a memory cgroup: {problem}")
        return (self.path("big"), group), ()
    if name in ("stuck_loader", "killed_loader") and subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode:
        self.skipTest("needs torch")
    return (), ()


def remove_group(group):
    for _ in range(100):
        try:
            return os.rmdir(group)
        except OSError:
            time.sleep(0.05)


def python_hang(name):
    def test(self):
        arguments, within = arguments_of(self, name)
        self.is_named(self.start_python(name, *arguments, within=within), *PYTHON_HANGS[name])
    return test


def only_slow(name):
    def test(self):
        run = self.start_python(name)
        for _ in range(10):
            look = self.ask(run)
            self.assertEqual(look["conclusions"], [], look["summary"])
            self.assertEqual([t["tid"] for p in look["processes"] for t in p["threads"] if t["deadlocked"]], [])
            self.assertTrue(look["summary"])
            time.sleep(0.02)
    return test


for one in C_HANGS:
    setattr(Planted, f"test_hang_{one}", c_hang(one))
for one in PYTHON_HANGS:
    setattr(Planted, f"test_hang_{one}", python_hang(one))
for one in ONLY_SLOW:
    setattr(Planted, f"test_only_slow_{one}", only_slow(one))


if __name__ == "__main__":
    sys.exit(unittest.main())
