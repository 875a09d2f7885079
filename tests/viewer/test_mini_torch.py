#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A training on the doubles of CUDA, with workers and a collective: both timelines show all that was recorded, alike."""
import json
import subprocess
import unittest
from collections import Counter

import mini_torch
from viewer_case import BUILD, ViewerCase


class MiniTorch(ViewerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        reason = mini_torch.why_not()
        if reason:
            raise unittest.SkipTest(reason)
        cls.run_folder = mini_torch.record(cls.folder, "--steps", "10", "--workers", "2", "--allreduce", "2", "--cause", "sleep=3",
                                             RANK="3", LOCAL_RANK="1", WORLD_SIZE="16")
        ran = subprocess.run([BUILD / "proftrace", "dump", "--json", cls.run_folder], capture_output=True, check=True)
        cls.events = [json.loads(line) for line in ran.stdout.decode("utf-8", "replace").splitlines()]

    def export(self, form):
        ran = subprocess.run([BUILD / "proftrace", "export", self.run_folder, "--to", form, "--json"], capture_output=True,
                             text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads(ran.stdout)

    def test_both_timelines(self):
        chrome, perfetto = self.export("chrome"), self.export("perfetto")
        self.check_trace(self.run_folder / "trace.json.gz", chrome)
        self.check_in_perfetto(self.run_folder / "trace.pftrace", perfetto)
        for key in ("slices", "instants", "counters", "flows", "processes", "left_out"):
            self.assertEqual(chrome[key], perfetto[key], key)
        self.assertEqual(perfetto["left_out"], 0)
        shown = [self.ask(self.run_folder / name, "select ts, dur, category, hex(name) from slice order by 1, 2, 3, 4")
                 for name in ("trace.json.gz", "trace.pftrace")]
        self.assertEqual(*shown)
        self.assertEqual(Counter((int(ts), int(dur)) for ts, dur, category, _ in shown[0][0] if category == "gpu"),
                         Counter((event["start_ns"], event["duration_ns"]) for event in self.events
                                 if event["event"].startswith("gpu_") and event.get("duration_ns") is not None)
                         + Counter((event["start_ns"], 0) for event in self.events if event["event"] == "gpu_tracing"))

    def test_every_piece_of_work_has_its_arrow(self):
        written = self.export("perfetto")
        work = [event for event in self.events if event["event"] in ("gpu_kernel", "gpu_copy", "gpu_set")]
        arrows, = self.ask(self.run_folder / "trace.pftrace",
                           "select a.name from flow f join slice a on f.slice_out = a.id where a.category = 'cuda'")
        self.assertEqual(len(arrows), len(work))
        self.assertGreaterEqual(written["flows"], len(work))

    def test_torch(self):
        written = self.export("torch")
        self.assertEqual(written["processes"], 1)  # the workers used no GPU
        self.assertEqual([path.name[:6] for path in (self.run_folder / "torch-traces").iterdir()], ["rank3."])
        self.assertEqual(written["flows"], len([e for e in self.events if e["event"] in ("gpu_kernel", "gpu_copy", "gpu_set")]))


if __name__ == "__main__":
    unittest.main()
