# SPDX-License-Identifier: MIT
"""What the viewer tests share: the Perfetto engine, the strict checker, the equality of what was written and what is seen."""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

SOURCE = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("PROFTRACE_BUILD", SOURCE / "build"))
ENGINE = pathlib.Path("/usr/lib/chromium/libtest_trace_processor.so")
MEMORY_BYTES = 12 << 30  # the engine maps generously; a NaN once took it to 17 GB without an end
SECONDS = 120


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def why_no_engine():
    if not ENGINE.exists():
        return f"{ENGINE} is missing (Debian package chromium-shell)"
    if not shutil.which("clang++"):
        return "clang++ is missing"
    if not list(pathlib.Path("/usr/lib").glob("llvm-*/include/c++/v1/vector")):
        return "libc++ is missing (Debian package libc++-dev)"
    return None


def build_engine():
    """The driver of the Perfetto engine; None and the reason when it cannot be built here."""
    reason = why_no_engine()
    if reason:
        return None, reason
    driver, source = BUILD / "tests" / "trace_processor", HERE / "trace_processor.cc"
    if driver.exists() and driver.stat().st_mtime > source.stat().st_mtime:
        return driver, None
    driver.parent.mkdir(parents=True, exist_ok=True)
    # Several tests come here at once in a fresh build: none may start what another one is still writing.
    own = driver.with_name(f"trace_processor.{os.getpid()}")
    command = ["clang++", "-std=c++17", "-stdlib=libc++", "-O1", source, "-o", own, f"-L{ENGINE.parent}",
               f"-Wl,-rpath,{ENGINE.parent}", f"-l:{ENGINE.name}"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        return None, f"the driver does not link with this chromium: {built.stderr.strip().splitlines()[-1]}"
    own.replace(driver)
    return driver, None


class ViewerCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.engine, cls.no_engine = build_engine()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="viewer-"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def ask(self, trace, *queries):
        """Rows of each query, from the engine that draws in Perfetto."""
        if not self.engine:
            self.skipTest(self.no_engine)
        ran = subprocess.run([self.engine, trace, *queries], capture_output=True, timeout=SECONDS, check=False,
                             preexec_fn=limit_memory)
        self.assertEqual(ran.returncode, 0, ran.stderr.decode(errors="replace"))
        tables, rows = [], []
        for line in ran.stdout.decode("utf-8").split("\n")[:-1]:
            if line:
                rows.append(line.split("\t"))
            else:
                tables.append(rows)
                rows = []
        return tables

    def check_strictly(self, trace, written):
        ran = subprocess.run([sys.executable, SOURCE / "scripts" / "check_chrome_trace.py", trace, "--json",
                              "--max-size", "10000000000"], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        found = json.loads(ran.stdout)
        for key in ("slices", "instants", "counters", "flows", "processes", "tracks", "bytes"):
            self.assertEqual(found[key], written[key], key)

    def check_in_perfetto(self, trace, written):
        """Perfetto has to find exactly what the exporter says it wrote, and nothing to complain about."""
        slices, counters, flows, errors, open_ended = self.ask(
            trace, "select count(*) from slice", "select count(*) from counter", "select count(*) from flow",
            "select name, idx, value from stats where severity in ('error', 'data_loss') and value > 0",
            "select count(*) from slice where dur < 0")
        self.assertEqual(errors, [])
        self.assertEqual(int(slices[0][0]), written["slices"] + written["instants"])
        self.assertEqual(int(counters[0][0]), written["counters"])
        self.assertEqual(int(flows[0][0]), written["flows"])
        self.assertEqual(int(open_ended[0][0]), 0)

    def check_trace(self, trace, written):
        self.check_strictly(trace, written)
        self.check_in_perfetto(trace, written)
