# SPDX-License-Identifier: MIT
"""`proftrace stacks --core FILE`: where a process died, and where its other threads were; a damaged dump is one clear line."""
import glob
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build"))
PROFTRACE = os.path.join(BUILD, "proftrace")
OURS = ("PROFTRACE_", "ENABLE_PROFILING", "PROFILE_OUTPUT_DIR", "LD_PRELOAD")
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}


def ask(*arguments):
    return subprocess.run([PROFTRACE, "stacks", *arguments], env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False)


class Core(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open("/proc/sys/kernel/core_pattern", encoding="ascii") as pattern:
            where = pattern.read().strip()
        if not where.startswith("core"):
            raise unittest.SkipTest(f"this machine's dumps go elsewhere (kernel.core_pattern is {where})")
        cls.folder = tempfile.mkdtemp(prefix="core-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        program = os.path.join(cls.folder, "crash")
        subprocess.run(["cc", "-O1", "-g", os.path.join(HERE, "crash.c"), "-o", program, "-lpthread"], check=True)
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        try:
            resource.setrlimit(resource.RLIMIT_CORE, unlimited)
        except ValueError:
            raise unittest.SkipTest("dumps are not allowed here (ulimit -c)") from None
        died = subprocess.Popen([program], cwd=cls.folder, env=ENVIRONMENT)
        died.wait()
        found = glob.glob(os.path.join(cls.folder, "core*"))
        if not found:
            raise unittest.SkipTest("the kernel has kept no dump")
        cls.core, cls.pid = os.path.join(cls.folder, "dump"), died.pid
        os.rename(found[0], cls.core)

    def test_the_first_line_is_why_and_where(self):
        done = ask("--core", self.core)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[0], r"^thread \d+ died by SIGSEGV at address 0x0 in divide \(crash\.c:11\)$")

    def test_all_threads_with_their_stacks(self):
        look = json.loads(ask("--core", self.core, "--format", "json").stdout)
        (process,) = look["processes"]
        self.assertEqual(process["pid"], self.pid)
        self.assertIn("crash", process["command"])
        died, other = process["threads"]
        self.assertEqual([f["function"] for f in died["frames"]][:3], ["divide", "average", "work"])
        self.assertEqual([(f["function"], f["line"]) for f in other["frames"] if f["line"] and f["file"].endswith("crash.c")],
                         [("wait_for", 28), ("main", 35)])
        self.assertEqual((other["tid"], other["why_cut"]), (self.pid, None))

    def test_a_run_and_a_pipeline_say_where_their_command_died(self):
        said = r"died by SIGSEGV at address 0x0 in divide \(crash\.c:11\)"
        crash = os.path.join(self.folder, "crash")
        with open(os.path.join(self.folder, "config.json"), "w", encoding="ascii") as config:
            json.dump({"profile": {"stages": [{"stage": "train", "cmd": [crash]}]}}, config)
        for command, run in ((("run", "-o", "run", "--", crash), "run"), (("pipeline", "--config", "config.json"), "proftrace.data/latest")):
            done = subprocess.run([PROFTRACE, *command], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=100, check=False)
            self.assertRegex(done.stderr, rf"signal 11 \(SIGSEGV\).*: thread \d+ {said}")
            with open(os.path.join(self.folder, run, "stacks.txt"), encoding="utf-8") as stacks:
                self.assertRegex(stacks.read(), rf"it died, and this is its core dump\nthread \d+ {said}\n(?s:.*)average .*crash\.c:16")
            report = json.loads(subprocess.run([PROFTRACE, "report", "--format", "json", run], cwd=self.folder, env=ENVIRONMENT, capture_output=True,
                                               text=True, timeout=100, check=True).stdout)
            self.assertRegex(report["stages"][0]["reason"], said)

    def test_of_a_traced_process_its_last_events_stand_beside_it(self):
        """The dump says which thread died, and where its trace lies."""
        run = os.path.join(self.folder, "traced")
        for earlier in glob.glob(os.path.join(self.folder, "core*")):
            os.remove(earlier)
        subprocess.run([PROFTRACE, "run", "--no-report", "-o", run, "--", os.path.join(self.folder, "crash")], cwd=self.folder, env=ENVIRONMENT, capture_output=True, timeout=100, check=False)
        (core,) = glob.glob(os.path.join(self.folder, "core*"))
        kept = os.path.join(self.folder, "traced-dump")
        os.rename(core, kept)
        look = json.loads(ask("--core", kept, "--format", "json").stdout)
        trace = look["trace"]
        self.assertEqual((trace["run"], trace["unread_reason"]), (os.path.realpath(run), None))
        died = trace["threads"][0]
        self.assertEqual(([t["died"] for t in trace["threads"]], died["tid"]), ([True, False], look["processes"][0]["threads"][0]["tid"]))
        self.assertRegex("\n".join(died["last_events"]), r"(?m) wait_sleep ")
        self.assertIn("thread_create", trace["threads"][1]["last_events"][0])
        self.assertRegex(ask("--core", kept).stdout, rf"(?m)^trace \S+/traced\n  thread {died['tid']}, which died: its last events\n(?:      .*\n)*?      \S+ \S+ \S+ wait_sleep ")
        self.assertNotIn("trace", json.loads(ask("--core", self.core, "--format", "json").stdout))
        shutil.rmtree(run)
        self.assertRegex(ask("--core", kept).stdout, r"(?m)^  no events: ")

    def test_of_many_threads_it_says_how_many_are_left_out(self):
        """Of each thread its last event, of 64; how many have events besides."""
        source, program, run = (os.path.join(self.folder, name) for name in ("many.c", "many", "many-traced"))
        with open(source, "w", encoding="ascii") as file:
            file.write('''
#include <pthread.h>
#include <unistd.h>
static void *wait(void *unused)
{
    usleep(1000);
    pause();
    return unused;
}
int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 99; i++)
        pthread_create(&thread, 0, wait, 0);
    sleep(1);
    *(volatile int *)0 = 1;
}
''')
        subprocess.run(["cc", "-o", program, source, "-lpthread"], check=True)
        for earlier in glob.glob(os.path.join(self.folder, "core*")):
            os.remove(earlier)
        subprocess.run([PROFTRACE, "run", "--no-report", "-o", run, "--", program], cwd=self.folder, env=ENVIRONMENT, capture_output=True, timeout=100, check=False)
        (core,) = glob.glob(os.path.join(self.folder, "core*"))
        dump = os.path.join(self.folder, "many-dump")
        os.rename(core, dump)
        trace = json.loads(ask("--core", dump, "--format", "json").stdout)["trace"]
        self.assertEqual((len(trace["threads"]), trace["threads_left_out"]), (64, 36))
        self.assertRegex(ask("--core", dump).stdout, r"(?m)^  \.\.\. and 36 more threads: `proftrace dump` has all events$")

    def test_a_dump_of_a_process_that_lives(self):
        """gcore stops it first: its note has the signal of that."""
        with open(self.core, "rb") as file:
            dump = file.read()
        note = dump.index(struct.pack("<II8s", 128, 0x53494749, b"CORE"))  # its length, NT_SIGINFO, its owner; then si_signo
        stopped = os.path.join(self.folder, "of-gcore")
        with open(stopped, "wb") as file:
            file.write(dump[:note + 16] + struct.pack("<I", signal.SIGSTOP) + dump[note + 20:])
        self.assertRegex(ask("--core", stopped).stdout.splitlines()[0], r"^thread \d+ was its first thread: the dump is of a process that lived \(gcore\)")

    @unittest.skipUnless(shutil.which("gdb"), "needs gdb")
    def test_gdb_says_the_same(self):
        said = subprocess.run(["gdb", "-nx", "-batch", os.path.join(self.folder, "crash"), self.core, "-ex", "bt"], capture_output=True, text=True,
                              env={**ENVIRONMENT, "DEBUGINFOD_URLS": ""}, timeout=120, check=False).stdout
        theirs = [line.split(" in ")[-1].split()[0] if " in " in line else line.split()[1] for line in said.splitlines() if line.startswith("#")]
        theirs = theirs[1:] if theirs[:1] == theirs[1:2] else theirs  # it shows the innermost frame at once, too
        look = json.loads(ask("--core", self.core, "--format", "json").stdout)
        ours = [f["function"] for f in look["processes"][0]["threads"][0]["frames"]]
        self.assertEqual([name for name in theirs if name in ours], [name for name in ours if name in theirs])
        self.assertIn("divide", theirs)

    def test_what_is_no_dump(self):
        for path, said in (("/bin/ls", "a program or a library"), (__file__, "no ELF file"), ("/nonexistent", "No such file"), ("/", "no ELF file")):
            done = ask("--core", path)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (3, "", 1), path)
            self.assertIn(said, done.stderr)
        for arguments in ((), ("--core", self.core, "1")):
            self.assertEqual(ask(*arguments).returncode, 2)

    def test_a_damaged_dump(self):
        with open(self.core, "rb") as file:
            whole = file.read()
        damaged, chance = os.path.join(self.folder, "damaged"), random.Random(1)
        for turn in range(60):
            data = bytearray(whole[:chance.randrange(1, len(whole))] if turn % 3 == 0 else whole)
            for _ in range(chance.randrange(30)):
                data[chance.randrange(min(len(data), 8192))] = chance.randrange(256)
            with open(damaged, "wb") as file:
                file.write(data)
            done = ask("--core", damaged)
            self.assertIn((done.returncode, done.stderr.count("\n")), ((0, 0), (3, 1)), f"turn {turn}: {done.stderr}")
            self.assertNotIn("(null)", done.stderr)


if __name__ == "__main__":
    unittest.main()
