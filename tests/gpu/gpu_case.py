# SPDX-License-Identifier: MIT
"""What the checks of tests/gpu share: how a program is run bare and traced, and what its trace says."""
import collections
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time


class Skip(Exception):
    """The check cannot be made here; the text says why."""


class Late(Exception):
    """The time for all checks is over."""


class Context:
    """One machine: the build, the programs, a folder for runs, the time that is left."""

    def __init__(self, build, programs, out, limit_s=600):
        self.deadline = time.monotonic() + limit_s
        self.proftrace = os.path.join(build, "proftrace")
        self.library = os.path.join(build, "libproftrace.so")
        self.programs = programs
        self.out = out
        self.folder = tempfile.mkdtemp(prefix="proftrace-gpu-")

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def within(self, timeout):
        """That many seconds, or what is left of them."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Late
        return min(timeout, left)

    def bare(self, argv, timeout=120, env=None, check=True):
        timeout = self.within(timeout)
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, env={**os.environ, **(env or {})})
        except subprocess.TimeoutExpired:
            self.within(timeout)
            raise
        if check and done.returncode != 0:
            raise AssertionError(f"{argv}: exit {done.returncode}: {done.stderr[-400:]}")
        return done

    def traced(self, argv, timeout=180, env=None, check=True):
        """(finished process, folder of the run)"""
        root = tempfile.mkdtemp(dir=self.folder)
        done = self.bare(argv, timeout, {"LD_PRELOAD": self.library, "PROFTRACE_DIR": root, **(env or {})}, check)
        return done, os.path.join(root, "latest")

    def events(self, run):
        """All CUDA and GPU events of a run as dictionaries."""
        dump = subprocess.run([self.proftrace, "dump", run, "--json"], capture_output=True, text=True, timeout=self.within(300))
        if dump.returncode != 0:
            raise AssertionError(dump.stderr[-400:])
        found = []
        for line in dump.stdout.splitlines():
            event = json.loads(line)
            if event.get("event", "").startswith(("gpu_", "cuda_")):
                found.append(event)
        return found

    def report(self, run):
        done = self.bare([self.proftrace, "report", run, "--format", "json"])
        return json.loads(done.stdout)


def counts(events):
    return collections.Counter(e["event"] for e in events)


def last_json(text):
    return json.loads([line for line in text.splitlines() if line.startswith("{")][-1])


def all_json(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def median(values):
    return statistics.median(values)
