# SPDX-License-Identifier: MIT
"""Run a command with and without the library on the same input, compare what it shows, and check its trace.

A command must give the same stdout, stderr and exit status both times, byte for byte. Lines "trace: KEY OP NUMBER" of its
stdout are claims about the trace (hosts/host.h lists the keys); nothing may be lost unless a claim speaks of `lost`.
"""
import contextlib
import dataclasses
import difflib
import json
import operator
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from run_trace import Trace

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import machine  # noqa: E402
CLAIM = re.compile(r"^trace: (\S+) (==|>=|<=) (\d+)$", re.MULTILINE)
COMPARE = {"==": operator.eq, ">=": operator.ge, "<=": operator.le}


@dataclasses.dataclass
class Settings:
    """Where things are; run.py fills it from its options."""
    build: str = os.path.join(ROOT, "build")
    lib: str = ""
    proftrace: str = ""
    hosts: str = ""
    slow: bool = False
    keep: bool = False
    baseline: bool = False

    def complete(self):
        self.lib = os.path.abspath(self.lib or os.path.join(self.build, "libproftrace.so"))
        self.proftrace = os.path.abspath(self.proftrace or os.path.join(self.build, "proftrace"))
        self.hosts = os.path.abspath(self.hosts or os.path.join(self.build, "tests", "fault"))


SETTINGS = Settings()


@dataclasses.dataclass
class Result:
    """What a command showed to the outside. status is as in subprocess: negative = killed by that signal."""
    out: bytes
    err: bytes
    status: int

    def difference(self, other):
        for what in ("status", "out", "err"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                return f"{what} differs\n{changes(mine, theirs)}"
        return None


def changes(without, with_us):
    lines = [value.decode(errors="replace").splitlines() if isinstance(value, bytes) else [str(value)]
             for value in (without, with_us)]
    return shorten("\n".join(difflib.unified_diff(*lines, "without", "with", lineterm="", n=1)))


def shorten(value):
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return text if len(text) < 3000 else text[:1500] + "\n ...\n" + text[-1500:]


def clean_environment(**more):
    """The environment of every command: nothing of ours, nothing that changes from day to day."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith("PROFTRACE_") and key not in ("LD_PRELOAD", "NO_COLOR", "CLICOLOR")}
    kept.update(LC_ALL="C.UTF-8", **{key: str(value) for key, value in more.items()})
    return kept


def with_others(env, preload):
    """The environment with the other libraries of a preload list, ours left out."""
    others = (preload or "").replace("{}", "").strip(":")
    return dict(env, LD_PRELOAD=others) if others else env


def run_command(argv, cwd, env, timeout=120, before_exec=None, **io):
    """Run to the end in a session of its own; a command that hangs is killed with its children and fails the test."""
    io.setdefault("stdin", subprocess.DEVNULL)
    io.setdefault("stdout", subprocess.PIPE)
    io.setdefault("stderr", subprocess.PIPE)
    child = subprocess.Popen(argv, cwd=cwd, env=env, start_new_session=True, preexec_fn=before_exec, **io)
    try:
        out, err = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        raise AssertionError(f"{argv}: still running after {timeout} s\n{shorten(out)}\n{shorten(err)}") from None
    return Result(out or b"", err or b"", child.returncode)


def wait_until(holds, seconds=30):
    """Look every two milliseconds until it holds; whether it does now. How long a program takes to come so far depends on the machine."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.002)
    return True


def trace_has_processes(trace):
    return any(name.endswith((".ptr", ".pts")) for name in os.listdir(trace.run))


class NoTrace:
    """Stands for the trace of a baseline run: whoever asks it anything has come as far as a baseline can."""

    def __getattr__(self, name):
        raise unittest.SkipTest("baseline: there is no trace")


@contextlib.contextmanager
def mounted(where, *mount):
    """A file system at `where`; skips where mounting is not allowed."""
    os.makedirs(where, exist_ok=True)
    done = subprocess.run(["mount", *mount, where], capture_output=True, text=True, check=False)
    if done.returncode:
        raise unittest.SkipTest(f"cannot mount here: {done.stderr.strip()}")
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", where], check=False)


class FaultCase(unittest.TestCase):
    """Base of all fault tests: a scratch folder, a working directory that both runs see under one name, a place for traces."""

    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="proftrace-fault-")
        self.work = os.path.join(self.scratch, "work")
        self.root = os.path.join(self.scratch, "traces")
        self.shown = None  # by the last program of check(), without the library
        if SETTINGS.keep:
            print("kept:", self.id(), self.scratch)
        else:
            self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        machine.need_room(self, self.scratch)

    def host(self, name):
        path = os.path.join(SETTINGS.hosts, name)
        if not os.path.exists(path):
            self.skipTest(f"host program {name} is not built")
        return path

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")

    def fresh_work(self, setup=None):
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        if setup:
            setup(self.work)

    def preload_environment(self, env, mode, preload=None, **options):
        """The environment of a traced run; `preload` may put other libraries before or after ours."""
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(self.root, mode=0o700)
        if SETTINGS.baseline:
            return with_others(env, preload)
        traced = dict(env, LD_PRELOAD=(preload or "{}").format(SETTINGS.lib), PROFTRACE_DIR=self.root, PROFTRACE_HEAP=mode)
        traced.update({f"PROFTRACE_{key.upper()}": str(value) for key, value in options.items()})
        return traced

    def run_untraced(self, argv, env, setup=None, preload=None, **how):
        self.fresh_work(setup)
        return run_command(argv, self.work, with_others(env, preload), **how)

    def check(self, argv, *, modes=("full",), env=None, setup=None, status=0, preload=None, options=None, normalise=None,
              claims=True, account=True, **how):
        """Both runs, compared; then the claims of the output, and that what is lost is counted. Returns the last trace (None where nothing was traced)."""
        environment = clean_environment(**(env or {}))
        if "/" not in argv[0] and os.path.exists(os.path.join(SETTINGS.hosts, argv[0])):
            argv = [self.host(argv[0]), *argv[1:]]
        without = self.run_untraced(argv, environment, setup, preload, **how)
        if status is not None:
            self.assertEqual(without.status, status, f"the baseline itself:\n{shorten(without.out)}\n{shorten(without.err)}")
        self.assertNotIn(b"BROKEN", without.out, shorten(without.out))
        self.shown = without
        trace = None
        for mode in modes:
            with self.subTest(mode=mode):
                traced = self.preload_environment(environment, mode, preload, **(options or {}))
                self.fresh_work(setup)
                result = run_command(argv, self.work, traced, **how)
                a, b = (normalise(without), normalise(result)) if normalise else (without, result)
                difference = a.difference(b)
                if difference:
                    self.fail(f"{argv} ({mode}): {difference}")
                trace = self.trace()
                if account and trace:
                    self.check_account(trace)
                if claims:
                    self.check_claims(trace, without.out.decode(errors="replace"), mode)
        return trace

    def trace(self):
        if SETTINGS.baseline:
            return NoTrace()
        latest = os.path.join(self.root, "latest")
        return Trace(SETTINGS.proftrace, latest) if os.path.exists(latest) else None

    def account(self, trace):
        done = subprocess.run([self.host("account"), trace.run], capture_output=True, text=True, check=True,
                              env=clean_environment())
        return json.loads(done.stdout)

    def check_account(self, trace):
        """Each call that is in a total is in the trace, or among those of which the trace says that they are not."""
        if SETTINGS.baseline or not trace_has_processes(trace):
            return
        account = self.account(trace)
        if not account["directory_entries"]:
            self.assertEqual(account["stored"], account["counted"], trace.info()["events"])

    def check_claims(self, trace, out, mode):
        if SETTINGS.baseline:
            return
        self.assertIsNotNone(trace, "no run directory was made")
        for wrong in self.wrong_claims(trace, out, mode):
            self.fail(wrong)

    def wrong_claims(self, trace, out, mode):
        claims = CLAIM.findall(out)
        if "lost" not in "".join(key for key, _, _ in claims):
            claims.append(("lost", "==", "0"))
        if mode != "full":
            claims = [claim for claim in claims if not claim[0].startswith(("size:", "live_at_end:"))]
        trace.tally({part for key, _, _ in claims for part in key.split("+")})
        for key, compare, number in claims:
            value = trace.value(key)
            if not COMPARE[compare](value, int(number)):
                yield f"trace ({mode}): {key} is {value}, must be {compare} {number}"


def slow(test):
    """A test that runs only with --slow."""
    def run(self, *arguments):
        if not SETTINGS.slow:
            self.skipTest("only with --slow")
        return test(self, *arguments)
    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run
