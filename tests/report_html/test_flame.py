#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The flame graph of each stage: no function is drawn wider than its caller, none over another, none without its time; a page
stays a page whatever the functions are called and however many there are."""
import json
import os
import random
import re
import sys
import unittest
import xml.dom.minidom

import page_case
import pcp
import test_page
from page_case import PageCase, run

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from sampled import no_samples  # noqa: E402

TRAIN, INFER = 4, 5


def parts(drawing):
    """The frames of a drawing: row, left and width in percent, tooltip's lines."""
    found = []
    for frame in drawing.childNodes:
        title = frame.getElementsByTagName("title")[0].firstChild.data
        found.append((int(frame.getAttribute("y")) // 19, float(frame.getAttribute("x")[:-1]), float(frame.getAttribute("width")[:-1]),
                      title.split("\n")))
    return found


class Flame(PageCase):
    def bare(self, name, stacks, stage=TRAIN, **how):
        """The pipeline with one profile only."""
        folder = self.pipeline(name)
        for old in os.listdir(folder):
            if old.endswith(".pcp"):
                os.unlink(os.path.join(folder, old))
        pcp.write(folder, stage, stacks, **how)
        return folder

    def drawn(self, folder, *options):
        """stage's title -> frames."""
        text, _ = self.page(folder, *options)
        test_page.Page.judge(self, text, folder)
        page = xml.dom.minidom.parseString(text.encode("utf-8"))
        boxes = [box for box in page.getElementsByTagName("div") if box.getAttribute("class") == "t flame"]
        return {box.getAttribute("aria-label"): parts(box.firstChild) for box in boxes}

    def check_tree(self, frames):
        """Each frame lies below one that is at least as wide; side by side nothing overlaps; parts are at most the whole."""
        self.assertEqual(frames[0][:3], (0, 0, 100))
        slack = 0.021  # two roundings to a hundredth
        for row in range(1, 1 + max(frame[0] for frame in frames)):
            above = [frame for frame in frames if frame[0] == row - 1]
            here = sorted(frame for frame in frames if frame[0] == row)
            for left, right in zip(here, here[1:]):
                self.assertLessEqual(left[1] + left[2], right[1] + slack)
            sums = dict.fromkeys(range(len(above)), 0)
            for frame in here:
                callers = [i for i, caller in enumerate(above)
                           if frame[1] >= caller[1] - slack and frame[1] + frame[2] <= caller[1] + caller[2] + slack]
                self.assertTrue(callers, frame)
                sums[callers[0]] += frame[2]
            for i, total in sums.items():
                self.assertLessEqual(total, above[i][2] + slack * len(here))

    def test_widths_are_shares_of_the_time(self):
        """400 samples of 10 ms, in two threads of one name and one of another."""
        folder = self.bare("shares", [(0, ["app", "work", "inner"], 200), (0, ["app", "work"], 40), (0, ["app", "[kernel]"], 60),
                                      (1, ["pool", "inner"], 50), (2, ["pool", "inner"], 50)],
                           threads=(("main", 1), ("worker", 2), ("worker", 3)))
        frames = self.drawn(folder)["train: CPU flame graph"]
        self.check_tree(frames)
        shares = {(row, lines[0]): (left, width) for row, left, width, lines in frames}
        self.assertEqual(shares, {
            (0, "all"): (0, 100), (1, "main"): (0, 75), (1, "worker (2 threads)"): (75, 25), (2, "[app]"): (0, 75),
            (2, "[pool]"): (75, 25), (3, "[work]"): (0, 60), (3, "[kernel]"): (60, 15), (3, "[inner]"): (75, 25),
            (4, "[inner]"): (0, 50)})
        told = {lines[0]: lines[1:] for row, _, _, lines in frames if row in (0, 3)}
        self.assertEqual(told["all"], ["4.00 s, 100 %"])
        self.assertEqual(told["[work]"], ["2.40 s, 60 %; itself 400 ms, 10 %", "native code: /opt/lib/work"])

    def test_the_interpreter_is_one_row(self):
        """Its own functions would bury what the program calls; the one that ran stays. So is a function that calls itself."""
        python = ["python3.11", "libpython3.11.so", "python3.11"]
        folder = self.bare("python", [(0, ["start", *python, "numpy.so", *python], 30), (0, ["start", *python, "fib", "fib", "fib"], 70)])
        rows = [(row, lines[0]) for row, _, _, lines in self.drawn(folder)["train: CPU flame graph"]]
        self.assertEqual(rows, [(0, "all"), (1, "main"), (2, "[start]"), (3, "Python interpreter"), (4, "[fib]"), (4, "[numpy.so]"),
                                (5, "Python interpreter"), (6, "[python3.11]")])

    def test_thousands_of_deep_stacks_stay_small(self):
        """What is left out is said, in places and in time."""
        chance = random.Random(7)
        stacks = [(0, [f"f{chance.randrange(40) if d > 3 else chance.randrange(3)}" for d in range(chance.randrange(2, 40))],
                   chance.randrange(1, 90)) for _ in range(3000)]
        stacks += [(0, ["deep", *(f"d{d}{side}" for d in range(60))], 9000 + 10 * i) for i, side in enumerate("ab")]
        stacks += [(0, ["deep", *(f"d{d}a" for d in range(n))], 2500) for n in range(1, 60, 2)]
        folder = self.bare("many", stacks)
        text, _ = self.page(folder)
        self.assertRegex(text, r"[\d,]+ places were too small to be drawn")
        self.assertRegex(text, r"\d+ % of the time is in calls too deep to be drawn")
        frames = self.drawn(folder)["train: CPU flame graph"]
        self.check_tree(frames)
        self.assertLessEqual(len(frames), 400)
        self.assertLessEqual(max(frame[0] for frame in frames), 23)
        self.assertIn("functions that call one after the other", " ".join(" ".join(frame[3]) for frame in frames))
        chance.shuffle(stacks)
        other = self.drawn(self.bare("shuffled", stacks))["train: CPU flame graph"]
        self.assertEqual([f[:2] + (f[3],) for f in frames], [f[:2] + (f[3],) for f in other], "the order of samples is seen")

    def test_what_is_drawn_or_too_deep_is_not_too_small(self):
        """Of a chain all functions are in one row; and time in calls too deep is told by itself."""
        chain = [f"d{d}" for d in range(60)]
        stairs = [(0, ["deep", *(f"s{d}" for d in range(n))], 100) for n in range(1, 40)]  # each is where some time is spent: none is a part of a chain
        for name, stacks, told in (("chain", [(0, chain, 100)], ""), ("stairs", stairs, "too deep"), ("both", [*stairs, (0, ["deep", "s0", "small"], 1)], "1 place was too small")):
            text, _ = self.page(self.bare(name, stacks))
            self.assertEqual(re.findall(r"[\d,]+ places? w\w+ too small", text), ["1 place was too small"] if name == "both" else [], name)
            self.assertIn(told, text)

    def test_hostile_names_are_text(self):
        names = [name.replace("/", "\u2215") for name in (*page_case.HOSTILE, "\udcff\udc80")] + ["x" * 3000, "\u4e2d\u6587" * 40]
        stacks = [(i, ["a" + name, name, "[kernel]"], 20) for i, name in enumerate(names)]
        comms = ("<b id=owned>", "'\"><script>", "]]>", "\x1b[31m", "%s%n", *"abcdefghijklmn")
        folder = self.bare("hostile", [], note="</p><script>")
        for stage in (0, 1, 2, 4, 5):
            pcp.write(folder, stage, stacks, threads=[(comm, 5 + i) for i, comm in enumerate(comms)], note="</p><script>")
        with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
            json.dump(page_case.hostile_record(), file)
        drawn = self.drawn(folder)
        self.assertTrue(drawn)
        for frames in drawn.values():
            self.check_tree(frames)
            self.assertIn("[<!--]", [lines[0] for *_, lines in frames])

    def test_the_longest_stage_is_open(self):
        folder = self.bare("stages", [(0, ["a"], 30)], stage=0)
        pcp.write(folder, TRAIN, [(0, ["b"], 90)])
        pcp.write(folder, INFER, [(0, ["c"], 90)])
        text, _ = self.page(folder)
        opened = re.findall(r'<details class="stage(?: np)?" open="open"><summary><h2>([\w-]+)', text)
        self.assertEqual(opened, ["train"])
        self.assertEqual(sorted(self.drawn(folder)), [f"{stage}: CPU flame graph" for stage in ("fetch-dataset", "infer", "train")])
        self.assertEqual(len(self.drawn(folder, "--stage", "infer")), 1)

    def test_no_samples(self):
        """Nothing to draw is not drawn; where somebody knows why, the page says it."""
        text, _ = self.page(self.bare("refused", [], note="perf events are refused: perf_event_paranoid is 4"))
        test_page.Page.judge(self, text, "refused")
        self.assertIn("No CPU profile: perf events are refused: perf_event_paranoid is 4", text)
        self.assertNotIn('class="t flame"', text)
        text, _ = self.page(self.bare("idle", []))
        self.assertNotIn("flame graph", text.split("</style>")[1])

    def test_a_damaged_profile_gives_a_page_all_the_same(self):
        folder = self.bare("damaged", [(0, ["a", "b"], 30)])
        path = os.path.join(folder, f"cpu-{TRAIN}.pcp")
        with open(path, "rb") as file:
            good = file.read()
        for n in range(0, len(good), 13):
            with open(path, "wb") as file:
                file.write(good[:n])
            text, _ = self.page(folder)
            test_page.Page.judge(self, text, f"{n} bytes")

    @unittest.skipIf(no_samples(page_case.PROFTRACE), no_samples(page_case.PROFTRACE))
    def test_files(self):
        """`run` writes one file for each stage that was sampled, whatever it is called."""
        folder = os.path.join(self.root, "real")
        done = run(page_case.PROFTRACE, "run", "-o", folder, "--", "/bin/sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
            self.assertTrue(json.load(file)["stages"][0].get("cpu_functions"))
        names = [name for name in os.listdir(os.path.join(folder, "charts")) if name.startswith("flame")]
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], r"^flame-[\w-]+\.svg$")
        with open(os.path.join(folder, "charts", names[0]), encoding="utf-8") as file:
            text = file.read()
        drawing = xml.dom.minidom.parseString(text.encode()).documentElement
        self.assertEqual(re.findall(r"http[^\"]*", text), ["http://www.w3.org/2000/svg"])
        frames = [one for one in drawing.childNodes if one.nodeName == "svg"]
        self.check_tree(parts(frames[0]))


if __name__ == "__main__":
    page_case.unittest.main()
