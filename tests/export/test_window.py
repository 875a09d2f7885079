# SPDX-License-Identifier: MIT
"""A part of a run on a timeline: what ended before it is not there, what goes on behind it has no end, what was there when it
begins has its value."""
import json
import os
import sys
import unittest

from export_case import SOURCE, main

sys.path.insert(0, str(SOURCE / "tests" / "training"))
from loops import World  # noqa: E402


class Window(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.process = self.world.process()

    def exported(self, *part):
        with self.world.run() as run:
            out = os.path.join(run, "out.json")
            self.world.command("export", run, "--to", "chrome", *part, "-o", out)
            with open(out, encoding="utf-8") as file:
                return json.load(file)["traceEvents"]

    def test_what_ended_before_it_is_not_there(self):
        p = self.process
        for name in "long ago", "in it":
            for _ in range(50):
                p.event(f'range_begin name="{name}"')
                p.phase("forward", 10)
                p.event("range_end")
            p.rest(1000)
        names = [event["name"] for event in self.exported("--from", "1s") if event["ph"] in "XB"]
        self.assertEqual(names.count("in it"), 50)
        self.assertEqual(names.count("long ago"), 0)
        self.assertEqual(names.count("forward"), 50)

    def test_what_goes_on_behind_it_was_closed_by_nobody(self):
        p = self.process
        p.event('range_open id=7 name="loose"')
        p.event('range_begin name="nested"')
        p.event("step number=3")
        p.rest(2000)
        p.event("range_end")
        p.event("range_close id=7")
        slices = {event["name"]: event for event in self.exported("--until", "1s") if event.get("cat") in ("range", "step")}
        for name in "loose", "nested", "step 3":
            self.assertNotIn("closed_by", slices[name].get("args", {}), slices[name])
        p.event('range_begin name="never ended"')
        p.rest(100)
        slices = {event["name"]: event for event in self.exported() if event.get("cat") == "range"}
        self.assertEqual(slices["never ended"]["args"]["closed_by"], "end of thread")

    def test_a_counter_has_the_value_from_before(self):
        p = self.process
        p.event('heap_sample addr=0x10000 size_bytes=1073741824')
        p.rest(3000)
        p.event('heap_sample addr=0x90000 size_bytes=1073741824')
        p.rest(100)
        points = [(event["ts"], event["args"]["bytes"]) for event in self.exported("--from", "1s")
                  if event["ph"] == "C" and event["name"].startswith("live heap")]
        self.assertEqual([value for _, value in points], [2**30, 2**31, 0])
        self.assertAlmostEqual(points[0][0], 1e6, delta=1)


if __name__ == "__main__":
    main()
