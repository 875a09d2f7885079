# SPDX-License-Identifier: MIT
"""What the launcher's tests share: a scratch folder per test, a clean environment, small C programs."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import machine  # noqa: E402,F401

BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build"))
PROFTRACE = os.path.join(BUILD, "proftrace")
LIBRARY = os.path.join(BUILD, "libproftrace.so")
OURS = ("PROFTRACE_", "ENABLE_PROFILING", "PROFILE_OUTPUT_DIR", "LD_PRELOAD")

# A shell that starts tests in the background has them ignore Ctrl-C and Ctrl-\, and so would every program that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def clean_environment(**more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
    environment.update(more)
    return environment


def stat_of(pid):
    """Some fields of /proc/PID/stat by their names in proc(5)."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return {"state": fields[0], "ppid": int(fields[1]), "utime": fields[11], "stime": fields[12], "cutime": fields[13], "cstime": fields[14]}


def comm_of(pid):
    """None where it has ended."""
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as file:
            return file.read().rstrip("\n")
    except OSError:
        return None


def descendants_of(parent):
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(pid)] = stat_of(pid)["ppid"]
        except OSError:
            pass  # it has ended
    found = [parent]
    for one in found:
        found += [pid for pid, its_parent in parents.items() if its_parent == one]
    return found[1:]


class LauncherCase(unittest.TestCase):
    """Each test runs in a folder of its own, so that ./proftrace.data is its own too."""

    maxDiff = None

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="launcher-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        machine.need_room(self, self.folder)

    def proftrace(self, *arguments, environment=None, **options):
        options.setdefault("capture_output", True)
        options.setdefault("cwd", self.folder)
        options.setdefault("timeout", 200)
        return subprocess.run([options.pop("program", PROFTRACE), *arguments],
                              env=clean_environment(**(environment or {})), **options)

    def run_it(self, *command, options=(), **more):
        return self.proftrace("run", "--no-report", *options, "--", *command, **more)

    def start_it(self, *command, options=(), environment=None, **more):
        process = subprocess.Popen([PROFTRACE, "run", "--no-report", *options, "--", *command], cwd=self.folder,
                                   env=clean_environment(**(environment or {})), **more)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def end_of(self, process):
        """What the kernel counted for a launcher that has ended and that nobody has waited for yet (WNOWAIT): the CPU
        seconds of the processes that it waited for, as wait4 told it. Then how it ended."""
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        fields = stat_of(process.pid)
        ticks = int(fields["cutime"]) + int(fields["cstime"])
        process.communicate()
        return ticks / os.sysconf("SC_CLK_TCK"), process.returncode

    def io_of_zombie(self, pid, launcher, let_it_end):
        """/proc/PID/io of a process between its end and its parent's wait: the parent, our launcher, is stopped meanwhile."""
        os.kill(launcher.pid, signal.SIGSTOP)
        try:
            self.wait_for(lambda: stat_of(launcher.pid)["state"] == "T")
            let_it_end()
            self.wait_for(lambda: stat_of(pid)["state"] == "Z")
            with open(f"/proc/{pid}/io", encoding="ascii") as file:
                return {key: int(value) for key, value in (line.split(": ") for line in file)}
        finally:
            os.kill(launcher.pid, signal.SIGCONT)

    def wait_for(self, condition, seconds=20):
        """The first true answer."""
        end = time.monotonic() + seconds
        while not (answer := condition()):
            self.assertLess(time.monotonic(), end, "it does not happen")
            time.sleep(0.005)
        return answer

    @classmethod
    def has_ended(cls, pid):
        """Soon: a process that was killed still has to be given a CPU to die on."""
        until = time.monotonic() + 60
        while not cls.is_gone(pid):
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    @staticmethod
    def is_gone(pid):
        """Also when process 1 of this machine does not wait for orphans."""
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                return file.read().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True

    def wait_for_command(self, launcher, comm):
        """The pid of a command below the launcher once it runs: on a busy machine no pause is long enough for that."""
        return self.wait_for(lambda: next((pid for pid in descendants_of(launcher) if comm_of(pid) == comm), None))

    def record(self, run="proftrace.data/latest"):
        """run.json with its first stage laid over it; samples as one dict each."""
        with open(os.path.join(self.folder, run, "run.json"), encoding="utf-8") as file:
            run_json = json.load(file)
        stage = run_json["stages"][0]
        columns = stage.get("samples", {})
        rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
        return {**run_json, **stage, "samples": rows}

    def compile(self, source, *options, compiler="cc", name="program"):
        """The path of a small program; skips the test where this kind cannot be built."""
        path = os.path.join(self.folder, name)
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler}")
        made = subprocess.run([compiler, "-x", "c", "-", "-o", path, *options], input=source.encode(),
                              capture_output=True, check=False)
        if made.returncode:
            self.skipTest(f"{compiler} {' '.join(options)} does not work here")
        return path
