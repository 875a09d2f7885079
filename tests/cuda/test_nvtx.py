#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""NVTX ranges and marks become the program's ranges, with NVIDIA's header, without it, and from Python."""
import collections
import os
import subprocess
import sys
import unittest

from annotation_case import LIBRARY, AnnotationCase, main

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from clocks import slow_clock_ns  # noqa: E402

HOSTS = ("nvtx_host", "nvtx_header_host")
PYTHON = """
import nvtx, os, threading
@nvtx.annotate("function", color="red")
def function(): pass
function()
with nvtx.annotate("load", domain="data", category="io"):
    nvtx.mark("seen", domain="data")
span = nvtx.start_range("span")
thread = threading.Thread(target=nvtx.end_range, args=(span,)); thread.start(); thread.join()
if os.fork() == 0:
    with nvtx.annotate("in the child"): pass
    os._exit(0)
os.wait()
"""


class Nvtx(AnnotationCase):
    @staticmethod
    def info(outcome):
        return subprocess.run([os.path.join(os.path.dirname(LIBRARY), "proftrace"), "info", f"{outcome.folder}/trace/latest"],
                              capture_output=True, text=True, check=True).stdout

    def test_everything(self):
        for host in HOSTS:
            with self.subTest(host):
                outcome = self.both(host, "all")
                self.assertEqual(self.names(outcome), [
                    "+step", "+reused buffer", "+data: decode", "+data: plain", "!data: plain", "-", "-", "-", "-",
                    "+Größe 中 😀", "-", "+", "-", "+", "-", "!here", "!plain"])
                opened, closed = outcome.of("range_open"), outcome.of("range_close")
                self.assertEqual([e["name"] for e in opened], ["span", "data: plain"])
                self.assertEqual([e["id"] for e in opened], [e["id"] for e in closed])
                self.assertEqual(len({e["id"] for e in opened}), 2)
                self.assertNotEqual(opened[0]["tid"], closed[0]["tid"])  # ended by another thread

    def test_older_nvtx_without_domains(self):
        outcome = self.both("nvtx_host", "all", NVTX_LOADER_OLD="1")
        self.assertEqual(self.names(outcome)[:4], ["+step", "+reused buffer", "-", "-"])

    def test_threads(self):
        for host in HOSTS:
            outcome = self.both(host, "threads")
            seen = collections.Counter(self.ranges(outcome))
            self.assertEqual(sorted(seen.values()), [20000] * 16, self.info(outcome))
            self.assertEqual({name for _, name in seen}, {"-"} | {f"+thread {i}" for i in range(8)})
            self.assertEqual(len({tid for tid, _ in seen}), 8)

    def test_crowds_and_long_names(self):
        outcome = self.both("nvtx_host", "crowds")
        names = [name for name in self.names(outcome) if name[0] == "+"]
        self.assertEqual(len(names), 500)
        self.assertEqual(names[:2], ["+domain 0: in a crowd", "+domain 1: in a crowd"])
        self.assertEqual(set(names[128:]), {"+(other domains): in a crowd"})
        mark, = outcome.of("mark")
        self.assertEqual(mark["name"], "n" * 4000)

    def test_forked_and_executed_children(self):
        for host in HOSTS:
            outcome = self.both(host, "child")
            self.assertEqual(collections.Counter(self.names(outcome)),
                             {"+parent": 1, "+forked": 1, "!executed": 1, "-": 2})
            self.assertEqual(len({e["pid"] for e in outcome.of("range_begin")}), 2)

    def test_switch_and_other_tools(self):
        for environment in ({"PROFTRACE_NVTX": "0"}, {"PROFTRACE_DISABLE": "1"}):
            outcome = self.both("nvtx_host", "all", **environment)
            if "PROFTRACE_DISABLE" not in environment:
                self.assertEqual(self.names(outcome), [])
        outcome = self.both("nvtx_host", "mark", "unheard", PROFTRACE_NVTX="0", NVTX_INJECTION64_PATH=LIBRARY)
        self.assertEqual(self.names(outcome), [])  # named by a parent that had it on
        for path, said in (("/nonexistent/libother.so", "is set by somebody else, to /nonexistent/libother.so"),
                           ("none", "is set to no library")):
            outcome = self.both("nvtx_host", "mark", "unheard", NVTX_INJECTION64_PATH=path)
            self.assertEqual(self.names(outcome), [f"!NVTX_INJECTION64_PATH {said}"])

    def test_only_injected(self):
        """Without LD_PRELOAD, by the variable alone: its ranges are there, and the report knows that nothing else is."""
        for host in HOSTS:
            outcome = self.both(host, "all", LD_PRELOAD=None)
            self.assertFalse(os.path.exists(f"{outcome.folder}/trace"))
            folder_of_run = self.run_program([os.path.join(os.path.dirname(LIBRARY), "cuda", host), "all"], LD_PRELOAD=None,
                                             NVTX_INJECTION64_PATH=LIBRARY)
            self.assertEqual(folder_of_run.out, outcome.out)
            self.assertEqual(self.names(folder_of_run)[:3], ["+step", "+reused buffer", "+data: decode"])
            self.assertIn("started without the library", self.info(folder_of_run))

    def test_cost(self):
        """Two readings of the clock and little else; nothing when it is off. Generous: machines of tests are busy."""
        host = next(h for h in reversed(HOSTS) if os.path.exists(os.path.join(os.path.dirname(LIBRARY), "cuda", h)))
        measure = lambda **environment: min(float(self.run_program([os.path.join(os.path.dirname(LIBRARY), "cuda", host), "measure"],
                                                                   **environment).out) for _ in range(3))
        on, off, without = measure(), measure(PROFTRACE_NVTX="0"), measure(LD_PRELOAD=None)
        print(f"push and pop: {on} ns, off {off} ns, without us {without} ns", file=sys.stderr)
        self.assertLess(on, 150 + slow_clock_ns(2))
        self.assertLess(off, without + 5)


def python_with(module, also="1"):
    """A Python that has it and of which `also` is true."""
    for python in (*filter(None, [os.environ.get("PROFTRACE_TEST_PYTHON")]), sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", f"import {module}\nassert {also}"], capture_output=True, check=False).returncode == 0:
            return python
    return None


@unittest.skipUnless(python_with("nvtx"), "needs the nvtx package: pip install nvtx, or PROFTRACE_TEST_PYTHON")
class Python(AnnotationCase):
    def test_annotations(self):
        outcome = self.both(python_with("nvtx"), "-c", PYTHON)
        self.assertEqual(collections.Counter(self.names(outcome)),
                         {"+function": 1, "+data: load": 1, "!data: seen": 1, "+in the child": 1, "-": 3})
        opened, = outcome.of("range_open")
        closed, = outcome.of("range_close")
        self.assertEqual((opened["name"], opened["id"]), ("span", closed["id"]))


if __name__ == "__main__":
    main()
