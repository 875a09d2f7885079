# SPDX-License-Identifier: MIT
"""--to otlp: what a program marks, and what started it, are spans that lie in each other as the program did it, with its own times."""
import json
import os
import pathlib
import re
import statistics
import struct
import sys
import tempfile
import unittest

from export_case import SOURCE, ExportCase, main

sys.path.insert(0, str(SOURCE / "tests" / "report_html"))
from pcp import crc32c  # noqa: E402

START_NS = 1705320000000000000
PROGRAM = f"""
import json, subprocess, sys, time
sys.path.insert(0, {str(SOURCE / "preload" / "python")!r})
import proftrace
times = []
def noted(name):
    started = time.time_ns()
    with proftrace.range(name):
        if name == "outer\\x1b[2J":
            noted("inner")
        time.sleep(0.002)
    times.append((name, started, time.time_ns()))
for epoch in range(2):
    proftrace.epoch(epoch)
    for step in range(600):
        proftrace.step(step)
        if step < 3:
            noted("outer\\x1b[2J")
    time.sleep(0.01)
subprocess.run([sys.executable, "-c", "raise SystemExit(3)"])
json.dump(times, open("times.json", "w"))
"""


class Otlp(ExportCase):
    program, stage = PROGRAM, "train"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(os.path.join(cls.folder, "times.json"), encoding="utf-8") as file:
            cls.times = json.load(file)

    def lines(self):
        path, self.written = self.export("otlp")
        with open(path, encoding="utf-8", newline="\n") as file:
            return [json.loads(line) for line in file]

    def spans(self):
        """{id: span}, its service and attributes among its keys"""
        found = {}
        for line in self.lines():
            ((of_resource,),) = line.values()
            (of_scope,) = of_resource["scopeSpans"]
            self.assertLessEqual(len(of_scope["spans"]), 500)
            service = self.attributes(of_resource["resource"])["service.name"]
            for span in of_scope["spans"]:
                self.assertNotIn(span["spanId"], found)
                found[span["spanId"]] = dict(span, service=service, start=int(span["startTimeUnixNano"]), end=int(span["endTimeUnixNano"]), **self.attributes(span))
        return found

    def attributes(self, of):
        return {attribute["key"]: attribute["value"].get("stringValue") or int(attribute["value"]["intValue"]) for attribute in of["attributes"]}

    def test_ids_and_parents(self):
        spans = self.spans()
        self.assertEqual(len({span["traceId"] for span in spans.values()}), 1)
        for number, span in spans.items():
            self.assertRegex(span["traceId"], r"\A[0-9a-f]{32}\Z")
            self.assertRegex(number, r"\A[0-9a-f]{16}\Z")
            self.assertNotEqual(int(number, 16) * int(span["traceId"], 16), 0)
            self.assertLessEqual(span["start"], span["end"])
        (root,) = [span for span in spans.values() if "parentSpanId" not in span]
        self.assertEqual((root["name"], root["service"]), (self.report["run"], "proftrace"))
        for span in spans.values():
            if span is not root:
                parent = spans[span["parentSpanId"]]
                self.assertLessEqual(parent["start"], span["start"])
        self.assertEqual(len(spans), self.written["slices"])

    def test_what_the_program_marked(self):
        spans = self.spans()
        named = lambda name: sorted((span for span in spans.values() if span["name"] == name), key=lambda span: span["start"])
        epochs, steps, outer, inner = map(named, ("epoch", "step", "outer\x1b[2J", "inner"))
        self.assertEqual([epoch["proftrace.number"] for epoch in epochs], [0, 1])
        self.assertEqual([step["proftrace.number"] for step in steps], [*range(600), *range(600)])
        self.assertEqual([step["parentSpanId"] for step in steps], [epochs[i // 600]["spanId"] for i in range(1200)])
        self.assertEqual([span["parentSpanId"] for span in outer], [steps[i]["spanId"] for i in (0, 1, 2, 600, 601, 602)])
        self.assertEqual([span["parentSpanId"] for span in inner], [span["spanId"] for span in outer])
        for name, found in (("outer\x1b[2J", outer), ("inner", inner)):
            theirs = sorted(time[1:] for time in self.times if time[0] == name)
            apart = [abs(span["start"] - started) + abs(span["end"] - ended) for span, (started, ended) in zip(found, theirs)]
            self.assertLess(statistics.median(apart), 5e6, "the program's own clock")
            self.assertLess(max(apart), 1e9, "as long as it may lose its CPU in between")
            (told,) = [row for row in self.report["stages"][0]["ranges"] if re.sub(r"\\x1b|\x1b", "", row["name"]) == re.sub("\x1b", "", name)]
            self.assertEqual(told["calls"], len(found))
            self.assertAlmostEqual(told["total_s"], sum(span["end"] - span["start"] for span in found) / 1e9, delta=1e-5)
        self.assertEqual(["proftrace.end" in step for step in steps], [False] * 1199 + [True], "the last one ends with its thread")

    def test_stages_and_processes(self):
        spans = self.spans()
        (stage,) = [span for span in spans.values() if "proftrace.status" in span]
        self.assertEqual((stage["name"], stage["service"], stage["proftrace.status"], stage["status"]), ("train", "train", "ok", {}))
        self.assertAlmostEqual((stage["end"] - stage["start"]) / 1e9, self.report["stages"][0]["duration_s"], places=5)
        processes = {span["process.pid"]: span for span in spans.values() if "process.executable.path" in span}
        self.assertEqual(processes.keys(), {process["pid"] for process in self.report["processes"]})
        for process in self.report["processes"]:
            span = processes[process["pid"]]
            failed = process["exit"] != "exit 0"
            self.assertEqual(span["status"], {"code": 2, "message": process["exit"]} if failed else {})
            self.assertEqual(spans[span["parentSpanId"]]["name"], "python3" if failed else "train")
        self.assertEqual(sum(process["exit"] == "exit 3" for process in self.report["processes"]), 1)

    def spans_of_story(self, states, run=None):
        """Of processes that each lived for 1 s from START_NS on."""
        folder = tempfile.mkdtemp(dir=self.folder)
        story = os.path.join(folder, "story.pt.txt")
        with open(story, "w", encoding="utf-8") as file:
            file.write(f"proftrace-text 1 start_realtime_ns={START_NS}\n")
            for pid, state in enumerate(states, start=100):
                file.write(f"process {pid} ppid=1 uid=1000 trace_id={pid:#x} start=0.0 end=1.0 state={state} boot=\"b\" host=\"h\" stage=\"s\" comm=\"a\" exe=\"/usr/bin/a\" argc=1 argv=[\"a\"]\n")
                file.write(f"thread {pid}/{pid} slot=0 life=1 start=0.0\n")
        if run:
            pathlib.Path(folder, "run.json").write_text(json.dumps(run), encoding="utf-8")
        self.traced("assemble", story, "-o", folder)
        exported = self.traced("export", "--to", "otlp", "-o", "-", folder).stdout.decode()
        return [span for line in exported.splitlines() for span in json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]]

    def test_only_failures_are_errors(self):
        spans = self.spans_of_story(("execed", "exited exit_status=0", "exited exit_status=3", "live"))
        self.assertEqual([span["status"] for span in spans if span["name"] == "a"], [{}, {}, {"code": 2, "message": "exit 3"}, {}])

    def test_one_clock(self):
        """The launcher began half a second before the first trace."""
        stage = {"stage": "s", "status": "ok", "command": ["a"], "start_ns": 400000000, "duration_ns": 1200000000, "exit": "exit 0", "exit_code": 0}
        run = {"schema_version": "1.0", "start_realtime_ns": START_NS - 500000000, "duration_ns": 1700000000, "stages": [stage]}
        spans = self.spans_of_story(["exited exit_status=0"], run)
        times = [tuple((int(span[key]) - START_NS) / 1e9 for key in ("startTimeUnixNano", "endTimeUnixNano")) for span in spans]
        self.assertEqual(times, [(-0.5, 1.2), (-0.1, 1.1), (0, 1)], "the run, its stage, its process")

    def test_parents_are_there(self):
        """In a window that begins after a parent's end: its child belongs to the next one above that is there."""
        folder = tempfile.mkdtemp(dir=self.folder)
        story = os.path.join(folder, "story.pt.txt")
        lives = ((100, 1, "0.0", "9.0"), (101, 100, "1.0", "2.0"), (102, 101, "1.5", "8.0"))
        with open(story, "w", encoding="utf-8") as file:
            file.write(f"proftrace-text 1 start_realtime_ns={START_NS}\n")
            for pid, ppid, start, end in lives:
                parent = f" parent_trace_id={ppid:#x}" if ppid > 1 else ""
                file.write(f"process {pid} ppid={ppid} uid=1000 trace_id={pid:#x}{parent} start={start} end={end} state=exited exit_status=0 "
                           f'boot="b" host="h" stage="s" comm="a" exe="/usr/bin/a{pid}" argc=1 argv=["a"]\n')
                file.write(f"thread {pid}/{pid} slot=0 life=1 start={start}\n")
        self.traced("assemble", story, "-o", folder)
        for window, found, above in (((), {"a100", "a101", "a102"}, "a101"), (("--from", "3s"), {"a100", "a102"}, "a100"),
                                     (("--from", "3s", "--pid", "102"), {"a102"}, "s")):
            exported = self.traced("export", "--to", "otlp", *window, "-o", "-", folder).stdout.decode()
            spans = {span["spanId"]: span for line in exported.splitlines()
                     for span in json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]}
            with self.subTest(window=window):
                self.assertEqual({span["name"] for span in spans.values() if span["name"].startswith("a1")}, found)
                parents = {span["name"]: spans[span["parentSpanId"]]["name"] for span in spans.values() if "parentSpanId" in span}
                self.assertEqual(parents["a102"], above)

    def test_parents_of_ranges_are_there(self):
        """What is left out, by a window or as too short, after something below it was opened."""
        folder = tempfile.mkdtemp(dir=self.folder)
        story = os.path.join(folder, "story.pt.txt")
        events = ((1.0, "epoch number=1"), (1.1, "step number=1"), (1.2, 'range_begin name="stays"'), (1.3, 'range_begin name="outer"'), (1.4, 'range_open name="left" id=1'),
                  (1.45, 'range_open name="closed" id=2'), (1.5, "range_end"), (1.7, "step number=2"), (1.8, "epoch number=2"), (2.0, "step number=3"), (6.0, "range_close id=2"),
                  (7.0, "range_end"), (8.0, "step number=4"))
        with open(story, "w", encoding="utf-8") as file:
            file.write(f"proftrace-text 1 start_realtime_ns={START_NS}\n"
                       "process 100 ppid=1 uid=1000 trace_id=0x64 start=0.0 end=9.0 state=exited exit_status=0 "
                       'boot="b" host="h" stage="s" comm="a" exe="/usr/bin/a" argc=1 argv=["a"]\nthread 100/100 slot=0 life=1 start=0.0\n')
            file.writelines(f"{at:.9f} 100/100 {event}\n" for at, event in events)
        self.traced("assemble", story, "-o", folder)
        for options, above in (((), {"stays": "step", "outer": "stays", "left": "outer", "closed": "outer"}), (("--from", "1.6s"), {"stays": "step", "left": "stays", "closed": "stays"}),
                               (("--from", "3s"), {"stays": "a", "left": "stays", "closed": "stays"}), (("--min-dur", "650ms"), {"stays": "epoch", "left": "stays", "closed": "stays"}),
                               (("--min-dur", "7s"), {"left": "a"})):
            exported = self.traced("export", "--to", "otlp", *options, "-o", "-", folder).stdout.decode()
            spans = {span["spanId"]: span for line in exported.splitlines() for span in json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]}
            with self.subTest(options=options):
                parents = {span["name"]: spans[span["parentSpanId"]]["name"] for span in spans.values() if "parentSpanId" in span}
                self.assertEqual({name: parent for name, parent in parents.items() if name in ("stays", "outer", "left", "closed")}, above)

    def folder_of(self, ranges):
        folder = tempfile.mkdtemp(dir=self.folder)
        story = os.path.join(folder, "story.pt.txt")
        with open(story, "w", encoding="utf-8") as file:
            file.write(f"proftrace-text 1 start_realtime_ns={START_NS}\nprocess 100 ppid=1 uid=1000 trace_id=0x64 start=0.0 end=9.0 state=exited exit_status=0 "
                       'boot="b" host="h" stage="s" comm="a" exe="/usr/bin/a" argc=1 argv=["a"]\nthread 100/100 slot=0 life=1 start=0.0\n')
            file.write("\n".join(ranges) + "\n")
        self.traced("assemble", story, "-o", folder)
        return folder

    def test_what_is_too_deep_is_counted(self):
        folder = self.folder_of([f'{1 + i / 1000:.9f} 100/100 range_begin name="r{i}"' for i in range(70)] + [f'{2 + i / 1000:.9f} 100/100 range_end' for i in range(70)])
        # r69 ends first, at 2 s: r64, the first that is too deep, begins at 1.064 s and ends at 2.005 s.
        for left_out, options in ((6, ()), (0, ("--from", "5s")), (3, ("--from", "2.0025s")), (3, ("--until", "1.0665s")), (2, ("--min-dur", "0.9375s"))):
            done = self.traced("export", "--to", "otlp", "--json", *options, "-o", os.path.join(folder, f"spans{left_out}{len(options)}"), folder)
            said = f"{left_out} events could not be shown".encode() in done.stderr
            self.assertEqual((json.loads(done.stdout)["left_out"], said), (left_out, left_out > 0), (options, done.stderr))

    def test_ranges_without_an_end_are_counted(self):
        """Those too deep whose starts are not kept count where they begin."""
        begun = [f'{1 + i / 100000:.9f} 100/100 range_begin name="r"' for i in range(200000)]
        ended = [f"{4 + i / 100000:.9f} 100/100 range_end" for i in range(200000)]
        for left_out, ranges, options in ((199936, begun, ()), (99937, begun, ("--until", "2s")), (199936, begun + ended, ()), (0, begun + ended, ("--from", "7s")),
                                          (100000 - 64, begun + ended, ("--from", "5s")), (0, begun + ended, ("--min-dur", "6s"))):
            folder = self.folder_of(ranges)
            done = self.traced("export", "--to", "otlp", "--json", *options, "-o", os.path.join(folder, f"spans{left_out}"), folder)
            self.assertEqual(json.loads(done.stdout)["left_out"], left_out, (len(ranges), options))

    def test_ranges_of_a_made_trace_that_end_before_they_begin(self):
        """Its blocks say that they end at 2 s, and one of them is missing: what was not counted is not taken off."""
        folder = self.folder_of([f'{6 + i / 100000:.9f} 100/100 range_begin name="r"' for i in range(70000)])
        (path,) = pathlib.Path(folder).glob("*.ptr")
        data = bytearray(path.read_bytes())
        blocks = [at for at in range(0, len(data), 64) if data[at:at + 4] == b"PBLK"]
        for at in blocks[:-2]:
            struct.pack_into("<QQ", data, at + 48, 2 * 10**9, 2 * 10**9)  # first_ticks, last_ticks
            data[at:at + 4] = data[at + 28:at + 32] = bytes(4)  # commit, crc
            payload = data[at + 72:at + 72 + struct.unpack_from("<I", data, at + 4)[0]]
            struct.pack_into("<I", data, at + 28, crc32c(payload + data[at:at + 72]))
            data[at:at + 4] = b"PBLK"
        data[blocks[-2]:blocks[-2] + 4] = b"lost"
        path.write_bytes(data)
        done = self.traced("export", "--to", "otlp", "--json", "--until", "5s", "-o", os.path.join(folder, "spans"), folder)
        self.assertEqual(json.loads(done.stdout)["left_out"], 0)

    def test_filters(self):
        path, _ = self.export("otlp", "--min-dur", "1s")
        with open(path, encoding="utf-8") as file:
            self.assertNotIn('"inner"', file.read())
        self.export("otlp", "--stage", "none", code=2)


if __name__ == "__main__":
    main()
