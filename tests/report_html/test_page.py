#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""report.html is one well-formed file that asks for nothing: no script, no network, and no name that makes markup."""
import base64
import hashlib
import html
import json
import math
import os
import re
import shlex
import unittest
import xml.dom.minidom
from html.parser import HTMLParser

import page_case
from page_case import PageCase, golden_names, run

CSP = "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'"
ELEMENTS = set("html head meta title style body header main footer nav section article h1 h2 h3 p a b br ul li dl dt dd div span "
               "small code pre details summary table caption thead tbody tr th td figure figcaption svg defs pattern rect line "
               "circle path text".split())
ATTRIBUTES = set("lang charset http-equiv content name class id href title scope role tabindex open aria-label aria-hidden x y "
                 "x1 x2 y1 y2 cx cy r rx d dx width height viewbox preserveaspectratio overflow vector-effect text-anchor "
                 "patternunits patterntransform".split())


class Strict(HTMLParser):
    """Every element and attribute must be one that we write; every link stays on the page."""

    def __init__(self):
        super().__init__()
        self.problems, self.ids, self.links, self.texts = [], [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ELEMENTS:
            self.problems.append(f"<{tag}>")
        for name, value in attributes:
            if name not in ATTRIBUTES:
                self.problems.append(f"<{tag} {name}={value}>")
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.links.append(value)

    def handle_comment(self, data):
        self.problems.append(f"<!--{data}-->")

    def handle_data(self, data):
        self.texts.append(data)


class Page(PageCase):
    def judge(self, text, folder, most_bytes=1 << 20):
        xml.dom.minidom.parseString(text.encode("utf-8"))  # strict: every element closed, every character legal
        page = Strict()
        page.feed(text)
        page.close()
        self.assertEqual(page.problems, [])
        self.assertEqual(len(page.ids), len(set(page.ids)), "an id is there twice")
        for link in page.links:
            self.assertTrue(link.startswith("#") and link[1:] in page.ids, link)
        style = re.findall("<style>(.*?)</style>", text, re.DOTALL)
        self.assertEqual(len(style), 1)
        self.assertIn(CSP.format(base64.b64encode(hashlib.sha256(style[0].encode()).digest()).decode()), text)
        self.assertTrue(text.startswith("<!DOCTYPE html>\n<html lang=\"en\">"))
        self.assertNotIn("<script", text.lower())
        self.assertIsNone(re.search(r"url\((?!#)|@import|(src|href|action)=\"(?!#)", text.lower().split("</style>")[0]))
        self.assertLess(len(text), most_bytes)
        for character in "".join(page.texts):
            self.assertFalse(character != "\n" and (ord(character) < 32 or ord(character) in range(0x202a, 0x202f)), folder)
        return page

    def test_golden_stories(self):
        for name in golden_names():
            with self.subTest(story=name):
                folder = self.golden(name)
                text, path = self.page(folder)
                self.judge(text, folder)
                with open(path, "rb") as file:
                    first = file.read()
                self.page(folder)
                with open(path, "rb") as file:
                    self.assertEqual(first, file.read(), "the same input gives different bytes")

    def test_each_thread_has_a_bar(self):
        """Of one scale, folded; one thread alone has none beside its stage's."""
        text, _ = self.page(self.golden("threads_of_a_program"))
        folded = re.search(r"<details><summary>Each thread.*?</details>", text, re.DOTALL).group(0)
        self.assertEqual(folded.count('class="bar"'), 3)
        self.assertIn('aria-label="work 101: Locks 3.00 s, Sleep 2.00 s, Unattributed 1.00 s"', folded)
        self.assertIn("Locks: 3.00 s, 50 % of the thread", folded)
        text, _ = self.page(self.golden("one_long_sync"))
        self.assertNotIn("Each thread", text)

    def test_links_of_very_many_findings_and_stages(self):
        """A page has the first of them: no number, and no name, leads to one that it does not have."""
        lines = ["proftrace-text 1 start_realtime_ns=1705320000000000000"]
        for i in range(230):
            pid = 100 + i
            lines += [f'process {pid} ppid=1 uid=1000 trace_id={pid:#x} start=0.0 end={20 + i / 1000:.3f} state=exited exit_status=0 '
                      f'cpu_ns=1000000 boot="b" host="h" stage="stage{i}" comm="a" exe="/usr/bin/a" argc=1 argv=["a"]',
                      f"thread {pid}/{pid} slot=0 life=1 start=0.0", *(f'{2 * j}.000000000 +1.900000000 {pid}/{pid} io_sync fd=5 result=0 path="/srv/f{i}"' for j in range(1, 10))]
        text, _ = self.page(self.assemble("very_many", lines))
        page = self.judge(text, "very_many", 2 << 20)
        self.assertEqual(sum(name.startswith("finding-") for name in page.ids), 120, "60 findings, and as many observations")
        self.assertEqual(len(re.findall(r'<span class="no">\d+</span>', text)), 140, "of the stages that are there")
        self.assertRegex(text, r" in stage2[1-3]\d, confidence")
        self.assertIn(' in <a href="#stage-199">stage199</a>', text)

    def test_commands_are_words_of_a_shell(self):
        text, _ = self.page(self.pipeline("x; touch 'y'"))
        commands = [html.unescape(command) for command in re.findall(r"<dt><code>(proftrace .*?)</code></dt>", text)]
        self.assertGreater(len(commands), 2)
        for command in commands:
            self.assertEqual(shlex.split(command)[-1], "x; touch 'y'")

    def test_one_stage_of_a_pipeline(self):
        text, _ = self.page(self.pipeline(), "--stage", "train")
        page = self.judge(text, "pipeline")
        self.assertNotIn("generate-dataset", "".join(page.texts))

    def test_pipeline_says_everything(self):
        text, _ = self.page(self.pipeline())
        said = " ".join("".join(self.judge(text, "pipeline").texts).split())
        for what in ("Pipeline profile: coco128, 50 epochs", "gpu-box-1", "2026-11-21 12:00:00 UTC", "timeout", "skipped",
                     "not asked for: pass --with-dinov3", "KeyError: '<b>recall</b>'", "precision_proxy is 0.41",
                     "must be at least 0.5", "the grade report has no such key", "redis-server *:0", "/usr/bin/busybox",
                     "statically linked", "the sampler missed 40 of 802 samples", "7.20 GiB", "up to", "Trace quality"):
            self.assertIn(what, said)

    def test_files_that_differ_in_numbers_are_one_group(self):
        """A hundred images in the story, a number each: one row with all their calls; a file of its own kind stays with the files."""
        done = page_case.run(page_case.PROFTRACE, "report", self.pipeline(), "--format", "json")
        groups = {stage["stage"]: stage.get("file_groups") for stage in json.loads(done.stdout)["stages"]}
        self.assertIsNone(groups["fetch-dataset"])
        row = groups["generate-dataset"][0]
        self.assertEqual({key: row[key] for key in ("path_group", "files", "opens", "reads", "read_bytes", "writes")}, {
            "path_group": "/srv/data/images/*.jpg", "files": 100, "opens": 400, "reads": 400, "read_bytes": 400 * 131072,
            "writes": 0})
        self.assertAlmostEqual(row["total_s"], 400 * .064, places=6)
        self.assertEqual([row["path_group"] for row in groups["train"]], ["/srv/data/shard-*.bin"])
        self.assertIn("/srv/data/images/*.jpg", self.page(self.pipeline())[0])

    def test_unknown_is_a_dash_with_its_reason(self):
        text, _ = self.page(self.pipeline("without", gpu=False))
        self.judge(text, "without")
        self.assertIn('title="no NVIDIA driver: libnvidia-ml.so.1 cannot be loaded">–</span>', text)
        self.assertNotIn("GPU utilisation", text)
        self.assertIn("– GPU busy: no NVIDIA driver", text)

    def test_hostile_names(self):
        folder = self.assemble("hostile", page_case.hostile_trace())
        text, _ = self.page(folder, "--top", "100")
        self.judge(text, folder)
        with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
            json.dump(page_case.hostile_record(), file)
        text, _ = self.page(folder, "--top", "100")
        page = self.judge(text, folder)
        self.assertIn("<script>document.title='owned'</script>", "".join(page.texts))  # shown as text

    def test_a_day_of_samples_and_thousands_of_files_stay_small(self):
        lines = list(page_case.story.trace())
        lines[4:4] = [f'{1 + i * .001:.9f} +0.000500000 1000/1000 io_read fd=5 result=10 path="/data/{"x" * 200}/{i}" '
                      f"requested_bytes=10" for i in range(5000)]
        folder = self.assemble("large", lines)
        record = page_case.story.run_record(True)
        stage = record["stages"][4]
        stage["duration_ns"], n = 86400 * 10**9, 172800
        stage["samples"] = {"t_ns": [i * 500000000 for i in range(n)], "cpu_percent": [100 + 90 * math.sin(i) for i in range(n)],
                            "rss_bytes": [i * 1000 for i in range(n)], "gpu_util_percent": [i % 100 for i in range(n)]}
        stage["samples"]["cpu_percent"][77777] = 791  # a peak of half a second
        with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
            json.dump(record, file)
        text, _ = self.page(folder, "--top", "100000")
        self.judge(text, folder)
        self.assertIn("peak 7.91 cores", text)
        self.assertIn("and 4,901 more", text)


    def test_a_damaged_record_gives_a_page_all_the_same(self):
        """Numbers that no machine has, nulls, and things of another type, everywhere in turn."""
        folder = self.pipeline("damaged")
        for i, bad in enumerate((1e308, -1e308, -5, None, "x", [], {}, True, 0)):
            def spoil(node, path=()):
                if isinstance(node, dict):
                    return {k: spoil(v, (*path, k)) for k, v in node.items()}
                if isinstance(node, list):
                    return [bad if len(node) > 8 and (j + i) % 7 == 0 else spoil(v, path) for j, v in enumerate(node)]
                return bad if isinstance(node, (int, float)) and (len(path) + i) % 2 else node

            with self.subTest(bad=bad):
                with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
                    json.dump(spoil(page_case.story.run_record(True)), file)
                text, _ = self.page(folder)
                self.judge(text, folder)
                self.assertIsNone(re.search(r"\b(nan|inf)\b", text.split("</style>")[1]))


class Charts(PageCase):
    """The charts as files, and what they keep of the samples."""

    def page_of(self, record=None):
        folder = self.pipeline(self.id())
        if record:
            with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
                json.dump(record, file)
        return self.page(folder)[0]

    def charts(self, record=None):
        page = xml.dom.minidom.parseString(self.page_of(record).encode())
        found = {}
        for figure in page.getElementsByTagName("figure"):
            title = figure.getElementsByTagName("b")[0].firstChild.data
            found[title.split(" (")[0]] = [p.getAttribute("d") for p in figure.getElementsByTagName("path")
                                           if p.getAttribute("vector-effect")]
        return found

    def test_only_charts_that_have_data(self):
        self.assertEqual(list(self.charts()),
                         ["CPU", "Memory", "Disk", "Network", "GPU utilisation", "GPU memory", "Pressure"])

    def test_gaps_are_gaps(self):
        """Six stages were sampled, and one sampler slept: seven pieces, for memory's rarer samples, too."""
        for name, paths in self.charts().items():
            for path in paths:
                self.assertEqual(path.count("M"), 7, name)
                self.assertNotIn("nan", path)

    def test_the_last_sample_is_found(self):
        """Of a stage that still runs it lies at the right edge, and a pointer there found no sample, or an older one."""
        record = page_case.story.run_record(True)
        stage = record["stages"][4]
        for values in stage["samples"].values():
            del values[10:]
        stage["samples"]["cpu_percent"] = [10] * 9 + [777]
        stage["start_ns"] = stage["duration_ns"] = stage["status"] = stage["exit"] = None
        record.update(stages=[stage], duration_ns=None)
        text = self.page_of(record)
        found = re.findall(r"<title>[^<]* to 5 s\n([^<]*)", text)
        self.assertEqual(found[0], "used 7.77 cores")
        self.assertNotIn("no sample", found)

    def test_no_value_is_no_zero(self):
        record = page_case.story.run_record(True)
        samples = record["stages"][4]["samples"]
        samples["gpu_util_percent"] = [None if i % 100 > 50 else 80 for i in range(len(samples["t_ns"]))]
        record["stages"] = [s for s in record["stages"] if s["stage"] == "train"]
        path = self.charts(record)["GPU utilisation"][0]
        self.assertEqual({float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)}, {round(112 * .2, 1)})

    def test_files(self):
        """`run` writes the page and its charts beside the other reports."""
        folder = os.path.join(self.root, "real")
        done = run(page_case.PROFTRACE, "run", "-o", folder, "--interval", "50", "--", "/bin/sh", "-c", "sleep 0.4; ls / >/dev/null")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(folder, "report.html"), encoding="utf-8") as file:
            Page.judge(self, file.read(), folder)
        files = os.listdir(os.path.join(folder, "charts"))
        self.assertTrue({"cpu.svg", "memory.svg"} <= set(files), files)
        for name in files:
            path = os.path.join(folder, "charts", name)
            self.assertEqual(os.stat(path).st_mode & 0o077, 0, "a run directory is private")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(xml.dom.minidom.parseString(text.encode()).documentElement.tagName, "svg")
            self.assertEqual(re.findall(r"http[^\"]*", text), ["http://www.w3.org/2000/svg"])


if __name__ == "__main__":
    unittest.main()
