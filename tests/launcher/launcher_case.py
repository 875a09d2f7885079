# SPDX-License-Identifier: MIT
"""What the launcher's tests share: a scratch folder per test, a clean environment, small C programs."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build"))
PROFTRACE = os.path.join(BUILD, "proftrace")
LIBRARY = os.path.join(BUILD, "libproftrace.so")
OURS = ("PROFTRACE_", "ENABLE_PROFILING", "PROFILE_OUTPUT_DIR", "LD_PRELOAD")


def clean_environment(**more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
    environment.update(more)
    return environment


class LauncherCase(unittest.TestCase):
    """Each test runs in a folder of its own, so that ./proftrace.data is its own too."""

    maxDiff = None

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="launcher-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def proftrace(self, *arguments, environment=None, **options):
        options.setdefault("capture_output", True)
        options.setdefault("cwd", self.folder)
        options.setdefault("timeout", 60)
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
