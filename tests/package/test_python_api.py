#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example of docs/python_api.md runs, with what the page leaves out (a loader, a training, a run) before it; its configurations are those
of the documents, and the callback takes them. PROFTRACE_TEST_TORCH names an interpreter with Lightning, pandas and yaml: without them what needs
them is skipped."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from blocks import blocks

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PACKAGE = ROOT / "preload/python"
PYTHON = os.environ.get("PROFTRACE_TEST_TORCH", sys.executable)
PAGE = (ROOT / "docs/python_api.md").read_text(encoding="utf-8")
# By the heading: what stands before the example, what after it, what it prints then, and which modules it needs.
EXAMPLES = {
    "Names in the trace": ("epochs, loader, loss, augment = 2, [1, 2, 3], 0.5, abs\n", "decode('a')\nprint(proftrace.active())", "{traced}\n", ""),
    "Measuring parts": ("import proftrace\ndef train():\n    return sum(range(1000000))\n",
                        "print(metrics.timing.wall_time_s > 0, list(profiler.get_timing_breakdown()))", "True ['training']\n", ""),
    "Reading a run": ("import proftrace\n", "print('small_reads' in [one['rule'] for one in run.findings], len(frame) > 0)",
                      "True True\n", "pandas"),
    "Callbacks, and traces of torch.profiler": ("from lightning.pytorch import Trainer as Ours\ndef Trainer(callbacks):\n    return Ours(accelerator='cpu', logger=False, callbacks=callbacks)\n",
                                                "print(sorted(trainer.callbacks[0].profile_epochs))", "[1, 5, 10]\n", "lightning.pytorch"),
}
TAKES = """
import sys, yaml
from importlib import import_module
options = yaml.safe_load(sys.stdin)
(name, options), = options.items()
module, _, kind = options.pop("_target_", "proftrace.lightning.ProfilerCallback").rpartition(".")
callback = getattr(import_module(module), kind)(**options)
print(name, callback.enabled, callback.output_dir)
"""


def examples(language):
    """(heading, text) of each block of the page."""
    heading = ""
    for title, kind, text in re.findall(r"(?ms)^## ([^\n]*)$|^```(\w+)\n(.*?)^```$", PAGE):
        heading = title or heading
        if kind == language:
            yield heading, text


def has(modules):
    return not modules or not subprocess.run([PYTHON, "-c", f"import {modules}"], capture_output=True, check=False, timeout=100).returncode


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="page-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def play(self, *command, stdin=None, **more):
        base = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
        done = subprocess.run([str(word) for word in command], cwd=self.folder, input=stdin, capture_output=True, text=True, timeout=300, check=False,
                              env={**base, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", "PROFTRACE_COMMAND": str(BUILD / "proftrace"), **more})
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return done.stdout

    def test_python(self):
        found = list(examples("python"))
        self.assertEqual([heading for heading, _ in found], list(EXAMPLES))
        # What the page calls the latest run: a stage that trains, with a finding.
        self.play(BUILD / "proftrace", "run", "--no-report", "--stage", "train", "--", sys.executable, HERE / "small_reads.py")
        for heading, text in found:
            before, after, said, needs = EXAMPLES[heading]
            if not has(needs):
                print(f"skipped: {heading}: {PYTHON} has no {needs}")
                continue
            for traced, more in (False, {}), (True, {"LD_PRELOAD": str(BUILD / "libproftrace.so"), "PROFTRACE_DIR": str(self.folder / "traced")}):
                with self.subTest(heading, traced=traced):
                    self.assertEqual(self.play(PYTHON, "-c", f"{before}{text}\n{after}", **more), said.format(traced=traced))

    def test_configurations(self):
        by_epochs, by_steps = (text for _, text in examples("yaml"))
        document = blocks("callback", "yaml")["Config File: `configs/callbacks/profiler.yaml`"]
        keys = re.compile(r"(?m)^ +(\w+):")
        self.assertEqual(set(keys.findall(by_epochs)), set(keys.findall(document)))
        self.assertEqual(by_steps, blocks("lightning", "yaml")["Method 2: Configuration"])
        if not has("lightning.pytorch, yaml"):
            self.skipTest(f"{PYTHON} has no Lightning")
        self.assertEqual(self.play(PYTHON, "-c", TAKES, stdin=by_epochs), "profiler False profiler_traces\n")
        self.assertEqual(self.play(PYTHON, "-c", TAKES, stdin=by_steps), "profiling True outputs/profiler_logs\n")


if __name__ == "__main__":
    unittest.main()
