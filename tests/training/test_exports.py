#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Timelines have phases where they were, and steps as PyTorch's profiler would have named them."""
import collections
import gzip
import json
import os
import unittest

from loops import World


class Exports(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.p = self.world.process()
        for _ in range(2):
            for _ in self.p.loader(batches=3).iterate():
                self.p.train()
            for _ in self.p.loader("Validation", batches=2).iterate():
                self.p.forward()

    def sums(self, name, form):
        with self.world.run() as run:
            self.world.command("export", run, "--to", form, "-o", os.path.join(run, name))
            found = [os.path.join(folder, f) for folder, _, files in os.walk(run) for f in files if ".json" in f]
            with (gzip.open if found[0].endswith(".gz") else open)(found[0], "rt", encoding="utf-8") as file:
                events = json.load(file)
        events = events["traceEvents"] if isinstance(events, dict) else events
        calls, us, opened = collections.Counter(), collections.Counter(), []
        for e in events:
            if e["ph"] == "X":
                calls[e["name"]] += 1
                us[e["name"]] += e["dur"]
            elif e["ph"] == "B":
                opened.append(e)
            elif e["ph"] == "E":
                begun = opened.pop()
                calls[begun["name"]] += 1
                us[begun["name"]] += e["ts"] - begun["ts"]
        return calls, us

    def test_phases_in_a_timeline(self):
        calls, us = self.sums("trace.json", "chrome")
        self.assertEqual((calls["forward"], calls["backward"], calls["optimizer_step"], calls["data_wait"]), (10, 6, 6, 14))
        self.assertAlmostEqual(us["backward"], 24000, places=1)

    def test_steps_and_phases_as_of_pytorchs_profiler(self):
        calls, us = self.sums("traces", "torch")
        self.assertEqual(sum(name.startswith("ProfilerStep#") for name in calls), 6)
        self.assertEqual(calls["enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"], 14)
        self.assertEqual((calls["backward"], us["backward"]), (6, 24000))


if __name__ == "__main__":
    unittest.main()
