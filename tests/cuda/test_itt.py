#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""ITT tasks, frames, marks and counters become the program's, from C, Python and torch."""
import collections
import os
import unittest

from annotation_case import LIBRARY, AnnotationCase, main
from test_nvtx import python_with

TORCH = """
import torch
for n in range(3):
    with torch.profiler.itt.range(f"step {n}"):
        torch.profiler.itt.mark("mark")
x = torch.randn(8, 8, requires_grad=True)
with torch.autograd.profiler.emit_itt():
    (x @ x).sum().backward()
print(torch.profiler.itt.is_available())
"""


class Itt(AnnotationCase):
    def test_everything(self):
        outcome = self.both("itt_host")
        self.assertEqual(outcome.err, "1 loader 1\n")  # one handle per name, the domain readable, the rest without a function
        self.assertEqual(self.names(outcome), ["+loader: decode", "!loader: wait", "-"])
        self.assertEqual([(e["name"], e["value"]) for e in outcome.of("counter")],
                         [("train: loss", 0.25), ("seen", 1), ("seen", 2), ("seen", 3)])
        opened, closed = outcome.of("range_open"), outcome.of("range_close")
        self.assertEqual([e["name"] for e in opened], ["loader: wait"] + ["loader: frame"] * 3)
        self.assertEqual([e["id"] for e in opened], [e["id"] for e in closed])

    def test_table_of_another_version(self):
        outcome = self.both("itt_host", "foreign")
        self.assertEqual((outcome.err, self.names(outcome)), ("", []))

    def test_switch_and_other_tools(self):
        for environment in ({"PROFTRACE_ITT": "0"}, {"PROFTRACE_ITT": "0", "INTEL_LIBITTNOTIFY64": LIBRARY}):
            self.assertEqual(self.names(self.both("itt_host", **environment)), [])
        outcome = self.both("itt_host", INTEL_LIBITTNOTIFY64="/nonexistent/collector.so")
        self.assertEqual(self.names(outcome), ["!INTEL_LIBITTNOTIFY64 is set by somebody else, to /nonexistent/collector.so"])


@unittest.skipUnless(python_with("ittapi"), "needs the ittapi package: pip install ittapi, or PROFTRACE_TEST_PYTHON")
class Python(AnnotationCase):
    def test_tasks(self):
        outcome = self.both(python_with("ittapi"), "-c", "import ittapi\nfor n in range(3):\n with ittapi.task(f'task {n}', 'loader'): pass")
        self.assertEqual(self.names(outcome), ["+loader: task 0", "-", "+loader: task 1", "-", "+loader: task 2", "-"])


ITT_TORCH = python_with("torch", "torch.profiler.itt.is_available()")


@unittest.skipUnless(ITT_TORCH, "needs a torch that has ITT, or PROFTRACE_TEST_PYTHON")
class Torch(AnnotationCase):
    def test_ranges_and_operators(self):
        outcome = self.run_program([ITT_TORCH, "-c", TORCH], timeout=200)
        self.assertEqual((outcome.code, outcome.out), (0, "True\n"), outcome.err)
        names = collections.Counter(self.names(outcome))
        self.assertEqual([names[f"+PyTorch: step {n}"] for n in range(3)], [1, 1, 1])
        self.assertGreaterEqual(names["+PyTorch: aten::mm"], 3)  # forward, and twice backward
        self.assertEqual(sum(n for name, n in names.items() if name[0] == "+"), names["-"])
        self.assertNotIn("+", names)


if __name__ == "__main__":
    main()
