# SPDX-License-Identifier: MIT
"""--to speedscope is the format that speedscope describes (speedscope.schema.json): of a program with threads and odd names, and of its
waits. The check itself sees what is wrong."""
import copy
import json
import os
import sys
import unittest

from export_case import PROFTRACE, ExportCase, main
from speedscope_case import problems_of

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from sampled import no_samples, no_samples_of_python  # noqa: E402

PROGRAM = """
import threading, time
names = {'odd "name"\\\\ \\n;é': 0.4, "plain": 0.2}
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(i * i for i in range(1000))
threads = [threading.Thread(target=burn, args=(seconds,), name=name) for name, seconds in names.items()]
for thread in threads:
    thread.start()
time.sleep(0.3)
burn(0.3)
for thread in threads:
    thread.join()
"""
FRAMES = [{"name": "a", "file": "a.c", "line": 3}, {"name": "b"}]
GOOD = {"$schema": "https://www.speedscope.app/file-format-schema.json", "exporter": "proftrace", "name": "n", "shared": {"frames": FRAMES},
        "profiles": [{"type": "sampled", "name": "p", "unit": "microseconds", "startValue": 0, "endValue": 30, "samples": [[0], [0, 1]], "weights": [10, 20]}]}


class Speedscope(ExportCase):
    program, stage = PROGRAM, 'stage "odd" \\ é'

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(problems_of(text), [])
        return json.loads(text)

    @unittest.skipIf(no_samples_of_python(PROFTRACE), no_samples_of_python(PROFTRACE))
    def test_cpu_samples(self):
        document = self.read(self.export("speedscope")[0])
        sampled_s = sum(weight for profile in document["profiles"] for weight in profile["weights"]) / 1e6
        self.assertTrue(0.5 < sampled_s, "0.9 s were computed")  # the machine may lose samples, never add any
        self.assertTrue(all(profile["name"].startswith(self.stage) for profile in document["profiles"]))
        self.assertIn("burn", {frame["name"] for frame in document["shared"]["frames"]})

    @unittest.skipIf(no_samples(PROFTRACE), no_samples(PROFTRACE))
    def test_waits(self):
        path = os.path.join(self.folder, "waits.json")
        self.traced("export", "--to", "speedscope", "--off-cpu", "-o", path, self.run_path)
        document = self.read(path)
        if document["profiles"]:  # where ordinary users get no stacks of waits, there are none
            self.assertTrue(any(frame["name"].startswith("[") for frame in document["shared"]["frames"]))


class TheCheck(unittest.TestCase):
    def test_what_is_right(self):
        self.assertEqual(problems_of(json.dumps(GOOD)), [])
        self.assertEqual(problems_of(json.dumps({**GOOD, "profiles": []})), [])

    def test_what_is_wrong(self):
        wrong = {"a sample has a frame": lambda it: it["profiles"][0]["samples"].append([2]) or it["profiles"][0]["weights"].append(0),
                 "2 samples and 1 weights": lambda it: it["profiles"][0]["weights"].pop(),
                 "its weights sum up": lambda it: it["profiles"][0].update(endValue=300),
                 "it ends before": lambda it: it["profiles"][0].update(endValue=-1),
                 "is not valid under any": lambda it: it["profiles"][0].update(unit="us"),
                 "required property": lambda it: it["shared"]["frames"].append({"file": "a.c"}),
                 "was unexpected": lambda it: it["shared"]["frames"].append({"name": "a", "function": "a"}),
                 "was expected": lambda it: it.update({"$schema": "https://speedscope.app"}),
                 "there is no such profile": lambda it: it.update(activeProfileIndex=1)}
        for words, spoil in wrong.items():
            with self.subTest(words):
                document = copy.deepcopy(GOOD)
                spoil(document)
                self.assertIn(words, "\n".join(problems_of(json.dumps(document))))
        with self.assertRaises(ValueError):
            problems_of(json.dumps({**GOOD, "name": float("nan")}))


if __name__ == "__main__":
    main()
