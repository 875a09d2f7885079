#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events are missing in the middle of a thread: what was open there had gone on until then, what comes behind it counts, and
nothing is as long as the hole."""
import gzip
import json
import os
import sys
import unittest

from loops import World

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from damage import lose_the_middle  # noqa: E402


class Holes(unittest.TestCase):
    def damaged(self, world, share=0.6):
        with world.run() as run:
            lose_the_middle(run, share)
            return json.loads(world.command("report", run, "--format", "json"))

    def test_steps_on_both_sides_count_and_none_is_as_long_as_the_hole(self):
        """Whatever was open when the hole began: its place in the step differs from run to run."""
        for start_ms in range(12):
            with self.subTest(start_ms=start_ms):
                world = World()
                p = world.process()
                for _ in range(start_ms):
                    p.phase("zero_grad", 1)
                for _ in range(40):
                    for _ in p.loader(batches=100, samples=8).iterate():
                        p.train()
                training = self.damaged(world)["stages"][0]["training"]
                self.assertGreater(training["steps"], 1200)
                self.assertLess(training["steps"], 2800)
                self.assertLess(training["step_max_s"], 0.05)
                self.assertAlmostEqual(training["step_p50_s"], 0.008, delta=0.001)
                self.assertAlmostEqual(training["samples_per_s"], 8 / 0.008, delta=30)
                self.assertLess(training["training_s"], 0.0081 * training["steps"] + 0.2)

    def test_steps_of_an_optimizer(self):
        world = World()
        p = world.process()
        for _ in range(4000):
            p.train()
        training = self.damaged(world)["stages"][0]["training"]
        self.assertGreater(training["steps"], 1000)
        self.assertLess(training["step_max_s"], 0.02)

    def test_an_import_that_is_cut_does_not_last_for_ever(self):
        world = World()
        p = world.process()
        with p.within("import", "torch"):
            for _ in range(8000):
                p.phase("garbage_collection", 0.1)
        for _ in p.loader(batches=2000).iterate():
            p.train()
        report = self.damaged(world)
        self.assertLess(report["stages"][0]["training"]["phases"]["import"]["total_s"], 1)
        self.assertGreater(report["stages"][0]["training"]["steps"], 200)
        self.assertNotIn("importing", {finding["rule"] for finding in report["findings"]})

    def test_ranges_and_steps_that_the_program_marks(self):
        """Whatever was open when the hole began, as above."""
        for shift in range(5):
            with self.subTest(shift=shift):
                world = World()
                p = world.process()
                for _ in range(shift):
                    p.event('mark name="before"')
                for i in range(6000):
                    for name in "outer", "inner":
                        p.event(f'range_begin name="{name}"')
                    p.rest(1)
                    for _ in range(2):
                        p.event("range_end")
                    p.event(f"step number={i}")
                stage = self.damaged(world)["stages"][0]
                rows = {row["name"]: row for row in stage["ranges"]}
                for name in "outer", "inner":
                    self.assertAlmostEqual(rows[name]["total_s"], rows[name]["calls"] * 0.001, delta=0.003)
                    self.assertLess(rows[name]["calls"], 5000)

    def exported(self, *to):
        """What an export of a run of short ranges and steps wrote, of which the middle is missing."""
        world = World()
        p = world.process()
        for i in range(6000):
            p.event('range_begin name="outer"')
            p.rest(1)
            p.event("range_end")
            p.event(f"step number={i}")
        with world.run() as run:
            lose_the_middle(run)
            out = os.path.join(run, "out")
            world.command("export", run, "--to", *to, "-o", out)
            paths = [os.path.join(out, name) for name in os.listdir(out)] if os.path.isdir(out) else [out]
            self.assertEqual(len(paths), 1)
            with (gzip.open if paths[0].endswith(".gz") else open)(paths[0], "rt", encoding="utf-8") as file:
                return file.read()

    def check(self, lengths_s):
        self.assertGreater(len(lengths_s), 3000)
        self.assertLess(max(lengths_s), 0.5)

    def test_slices_of_chrome(self):
        """As the spans of OTLP. What began before a thread's end was known begins and ends by itself."""
        lengths_s, open_at_us = [], {}
        for event in json.loads(self.exported("chrome"))["traceEvents"]:
            track = event.get("pid"), event.get("tid")
            if event["ph"] == "B":
                open_at_us.setdefault(track, []).append((event["name"], event["ts"]))
            elif event["ph"] in "EX" and track[0]:
                name, start_us = (event["name"], event["ts"]) if event["ph"] == "X" else open_at_us[track].pop()
                end_us = event["ts"] + event.get("dur", 0)
                lengths_s += [(end_us - start_us) / 1e6] if name == "outer" or name.startswith("step ") else []
        self.check(lengths_s)

    def test_annotations_of_torch(self):
        slices = [event for event in json.loads(self.exported("torch"))["traceEvents"] if event.get("cat") == "user_annotation"]
        self.check([slice_["dur"] / 1e6 for slice_ in slices])

    def test_spans_of_otlp(self):
        """A span that is open when the hole begins ends there, and says that this is a guess."""
        text = self.exported("otlp")
        spans = [span for line in text.splitlines() if line for resource in json.loads(line)["resourceSpans"]
                 for scope in resource["scopeSpans"] for span in scope["spans"]]
        self.check([(int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) / 1e9 for span in spans if span["name"] in ("outer", "step")])


if __name__ == "__main__":
    unittest.main()
