#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""GPU work in all three timelines: what is in the trace is in each file, to the nanosecond, with an arrow from every call."""
import gzip
import json
import re
import subprocess
import unittest
from collections import Counter
from decimal import Decimal

import gpu_story
import hostile_gpu
from viewer_case import BUILD, ViewerCase

PROFTRACE = BUILD / "proftrace"
SPAN = re.compile(r"^(\d+)\.(\d{9}) \+(\d+)\.(\d{9}) (\d+)/(\d+) (\w+) ?(.*)$")
SHOWN = "select s.ts, s.dur, s.name, s.category from slice s where s.category in ('cuda', 'gpu')"


def spans_of_dump(folder):
    """(start, duration) of every span that `proftrace dump` knows, counted."""
    ran = subprocess.run([PROFTRACE, "dump", folder], capture_output=True, text=True, check=True)
    found = Counter()
    for line in ran.stdout.splitlines():
        match = SPAN.match(line)
        if match:
            at_s, at_ns, s, ns = (int(group) for group in match.groups()[:4])
            found[at_s * 10**9 + at_ns, s * 10**9 + ns] += 1
    return found


class Gpu(ViewerCase):
    def run_of(self, name, **how):
        if not PROFTRACE.exists():
            self.skipTest(f"{PROFTRACE} is not built")
        text, folder = self.folder / f"{name}.pt.txt", self.folder / name
        ranks = gpu_story.write(text, **how)
        folder.mkdir()
        subprocess.run([PROFTRACE, "assemble", text, "-o", folder], check=True, capture_output=True)
        return folder, ranks

    def export(self, folder, form, *options, code=0):
        ran = subprocess.run([PROFTRACE, "export", folder, "--to", form, "--json", *options], capture_output=True, text=True,
                             check=False)
        self.assertEqual(ran.returncode, code, ran.stderr)
        self.said = ran.stderr
        return json.loads(ran.stdout) if code == 0 else None

    def both(self, folder, *options):
        """Chrome's and Perfetto's file of a run, found equal by the engine."""
        files = []
        for form, name in (("chrome", "t.json.gz"), ("perfetto", "t.pftrace.gz")):
            written = self.export(folder, form, *options, "-o", str(folder / name))
            files.append((folder / name, written))
        (chrome, in_chrome), (perfetto, in_perfetto) = files
        self.check_trace(chrome, in_chrome)
        self.check_in_perfetto(perfetto, in_perfetto)
        for key in ("slices", "instants", "counters", "flows", "processes", "left_out"):
            self.assertEqual(in_chrome[key], in_perfetto[key], key)
        shown = [self.ask(path, "select ts, dur, category, hex(name) from slice order by 1, 2, 3, 4",
                          "select ts, value from counter order by 1, 2",
                          "select a.ts, b.ts, hex(a.name), hex(b.name) from flow f join slice a on f.slice_out = a.id "
                          "join slice b on f.slice_in = b.id order by 1, 2, 3, 4") for path in (chrome, perfetto)]
        for in_one, in_other in zip(*shown):
            self.assertEqual(in_one, in_other)
        return chrome, perfetto, in_perfetto

    def test_all_that_the_gpu_did(self):
        folder, ranks = self.run_of("small")
        _, perfetto, written = self.both(folder)
        self.assertEqual(written["left_out"], 0)
        self.assertEqual(written["flows"], sum(rank.arrows for rank in ranks))
        seen = Counter((int(ts), int(dur)) for ts, dur, _, _ in self.ask(perfetto, SHOWN)[0])
        self.assertEqual(seen, spans_of_dump(folder))

    def test_names_and_rows(self):
        folder, _ = self.run_of("named", ranks=1, steps=2, kernels=60)
        _, perfetto, _ = self.both(folder)
        names, rows, parents = self.ask(
            perfetto, "select distinct name from slice where category = 'gpu'",
            "select distinct t.name from slice s join track t on s.track_id = t.id where s.category = 'gpu'",
            "select p.name from track t join track p on t.parent_id = p.id where t.name = 'stream 7'")
        names = {name for (name,) in names}
        self.assertLessEqual({"gemm(float*, float*, int)", 'bad"\\<name>', "Memcpy HtoD (Pageable -> Device)", "Stream Sync"},
                             names)
        self.assertEqual({name for (name,) in rows}, {"stream 7", "stream 20", "synchronisation"})
        self.assertEqual(parents, [["GPU 0 (NVIDIA H200)"]])

    def test_launches_that_wrappers_saw(self):
        """Without CUPTI nobody sees a kernel run; its launch says which it was, as people write it."""
        folder, _ = self.run_of("wrapped", ranks=1, steps=1, kernels=2)
        text = (self.folder / "wrapped.pt.txt").read_text(encoding="utf-8")
        launch = 'cuda_launch result=0 name="%s" config="64,1,1 256,1,1 0 0+0" stream=0x0'
        text += "".join(f"{at}.000000000 +0.000010000 100/100 {launch % name}\n"
                        for at, name in ((5, "_Z5trainPf"), (6, "elementwise"), (7, "_Z5trainPf")))
        (self.folder / "wrapped.pt.txt").write_text(text, encoding="utf-8")
        subprocess.run([PROFTRACE, "assemble", self.folder / "wrapped.pt.txt", "-o", folder], check=True, capture_output=True)
        _, perfetto, _ = self.both(folder)
        names, = self.ask(perfetto, "select name from slice where name like 'launch %' order by ts")
        self.assertEqual([name for name, in names], ["launch train(float*)", "launch elementwise", "launch train(float*)"])
        self.export(folder, "torch")
        _, trace = self.read_torch(folder / "torch-traces" / "rank0.100.pt.trace.json.gz")
        self.assertEqual([event["args"]["kernel"] for event in trace["traceEvents"] if "kernel" in event.get("args", ())],
                         ["train(float*)", "elementwise", "train(float*)"])

    def test_time_of_day(self):
        folder, _ = self.run_of("clock", ranks=1, steps=1)
        _, perfetto, _ = self.both(folder)
        clocks, = self.ask(perfetto, "select clock_id, clock_value from clock_snapshot order by 1")
        self.assertEqual(clocks, [["1", str(gpu_story.START_REALTIME_NS)], ["6", "0"]])

    def test_memory_and_queue(self):
        folder, ranks = self.run_of("counted", ranks=1)
        _, perfetto, _ = self.both(folder)
        memory, depth = self.ask(
            perfetto, "select ts, cast(value as int) from counter c join track t on c.track_id = t.id "
            "where t.name = 'GPU 0 memory (Device)' order by ts",
            "select min(value), (select value from counter c join track t on c.track_id = t.id where t.name = 'GPU queue depth' "
            "order by ts desc limit 1) from counter c join track t on c.track_id = t.id where t.name = 'GPU queue depth'")
        self.assertEqual(memory[-2:], [["900000000000", "500"], ["1000000000000", "0"]], "its end frees it")
        self.assertEqual([float(value) for value in depth[0]], [0, 0])
        self.assertGreater(ranks[0].arrows, 0)

    def test_ranges_that_overlap(self):
        folder, ranks = self.run_of("ranges", ranks=1, steps=4)
        _, perfetto, _ = self.both(folder)
        found, closed = self.ask(
            perfetto, "select ts, dur from slice where name like 'overlap%' order by ts",
            "select display_value from slice s join args a using (arg_set_id) where s.name = 'overlap 3'")
        self.assertEqual(len(found), 4)
        for before, after in zip(found, found[1:]):
            self.assertGreater(int(before[0]) + int(before[1]), int(after[0]), "each ends in the next")
        self.assertEqual(closed, [["end of process"]])

    def test_samples_of_the_launcher(self):
        folder, _ = self.run_of("sampled", ranks=1, steps=1)
        stage = {"stage": "train", "start_ns": 10**9, "duration_ns": 9 * 10**9, "resources": {},
                 "samples": {"t_ns": [10**9, 2 * 10**9, 4 * 10**9], "cpu_percent": [80, None, 90.5],
                             "disk_read_bytes": [0, 1000, 5000], "gpu_util_percent": [10, 20, 30]}}
        run = {"schema_version": "1.0", "start_realtime_ns": gpu_story.START_REALTIME_NS, "duration_ns": 10**10,
               "stages": [stage], "untraced": [], "notes": []}
        (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
        _, perfetto, _ = self.both(folder)
        rows = self.ask(perfetto, "select t.name, c.ts, c.value from counter c join track t on c.track_id = t.id "
                        "where t.name like 'train:%' order by 1, 2")[0]
        self.assertEqual([(name, round(int(ts) / 10**9, 6), float(value)) for name, ts, value in rows],
                         [("train: CPU (%)", 2, 80), ("train: CPU (%)", 5, 90.5),
                          ("train: Disk read (bytes per s)", 2, 0), ("train: Disk read (bytes per s)", 3, 1000),
                          ("train: Disk read (bytes per s)", 5, 2000),
                          ("train: GPU (%)", 2, 10), ("train: GPU (%)", 3, 20), ("train: GPU (%)", 5, 30)])
        self.both(folder, "--stage", "train")
        alone = self.export(folder, "perfetto", "--pid", "100")
        self.assertEqual(alone["processes"], 1)

    def test_filters(self):
        folder, ranks = self.run_of("filtered")
        middle = ranks[0].at_ns // 2
        self.both(folder, "--until", f"{middle}ns")
        self.both(folder, "--from", f"{middle}ns")
        self.both(folder, "--min-dur", "20us")
        _, perfetto, _ = self.both(folder, "--pid", "110")
        pids, = self.ask(perfetto, "select distinct pid from process where pid > 0")
        self.assertEqual(pids, [["110"]])

    def test_a_hundred_thousand_slices(self):
        folder, ranks = self.run_of("large", ranks=1, steps=100, kernels=500)
        _, perfetto, written = self.both(folder)
        self.assertGreater(written["slices"], 100000)
        self.assertEqual(written["flows"], ranks[0].arrows)
        seen = Counter((int(ts), int(dur)) for ts, dur, _, _ in self.ask(perfetto, SHOWN)[0])
        self.assertEqual(seen, spans_of_dump(folder))

    def read_torch(self, path):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            text = file.read()
        return text, json.loads(text, parse_float=Decimal)

    def test_torch_files(self):
        folder, ranks = self.run_of("torch")
        written = self.export(folder, "torch")
        self.assertIn("RANK", self.said)
        self.assertEqual(written["processes"], 2)
        for number, rank in enumerate(ranks):
            text, trace = self.read_torch(folder / "torch-traces" / f"rank{number}.{rank.pid}.pt.trace.json.gz")
            self.assertRegex(text, rf'"rank":\s+{number}\b')
            self.assertEqual(trace["baseTimeNanoseconds"], gpu_story.START_REALTIME_NS)
            self.assertEqual(trace["deviceProperties"][0]["numSms"], 132)
            self.assertEqual(trace["deviceProperties"][0]["totalGlobalMem"], 150000000000)
            self.check_torch(rank, trace["traceEvents"])

    def test_torch_event_waits(self):
        """A wait for an event says in which stream it was recorded; one that was recorded on another device does not."""
        rank, text, folder = gpu_story.Events([]), self.folder / "waits.pt.txt", self.folder / "waits"
        for number in range(3):
            rank.step(number)
        elsewhere = rank.at_ns
        rank.wait(2, "cudaStreamWaitEvent", 7, rank.correlation, 7, elsewhere + 600)
        rank.lines[-1] = rank.lines[-1].replace('queue="0/', 'queue="1/')
        gpu_story.save(text, [rank])
        folder.mkdir()
        subprocess.run([PROFTRACE, "assemble", text, "-o", folder], check=True, capture_output=True)
        self.export(folder, "torch")
        _, trace = self.read_torch(folder / "torch-traces" / f"rank0.{rank.pid}.pt.trace.json.gz")
        calls = {event["args"]["correlation"]: event["name"] for event in trace["traceEvents"] if event.get("cat") == "cuda_runtime"}
        waits = [(event["name"], event["tid"], event["args"].get("wait_on_stream"),
                  calls[event["args"]["wait_on_cuda_event_record_corr_id"]])
                 for event in trace["traceEvents"] if event.get("cat") == "cuda_sync"]
        self.assertEqual(waits[:-1], [("Stream Wait Event", 7, 20, "cudaEventRecord"), ("Event Sync", -1, 7, "cudaEventRecord")] * 3)
        self.assertEqual(waits[-1][:3], ("Stream Wait Event", 7, None))

    def test_torch_ranks(self):
        """What torchrun or srun called a process is its number; where two have one, or one has none, that is said."""
        folder, _ = self.run_of("called", steps=1, kernels=2, told_ranks=(5, 2))
        self.export(folder, "torch")
        self.assertNotIn("numbered", self.said)
        self.both(folder)
        with gzip.open(folder / "t.json.gz", "rt", encoding="utf-8") as file:
            trace = json.load(file)
        self.assertEqual({event["pid"]: event["args"]["labels"] for event in trace["traceEvents"]
                          if event["name"] == "process_labels"}, {100: "train, rank 5", 110: "train, rank 2"})
        for name, number in (("rank5.100", 5), ("rank2.110", 2)):
            text, _ = self.read_torch(folder / "torch-traces" / f"{name}.pt.trace.json.gz")
            self.assertIn(f'"distributedInfo":{{"rank": {number}, "world_size": 8}}', text)
        for called, said in (((3, 3), "processes 100 and 110 both had rank 3"), ((0, None), "process 110 had no RANK")):
            folder, _ = self.run_of(f"not{called[1]}", steps=1, kernels=2, told_ranks=called)
            self.export(folder, "torch")
            self.assertIn(said, self.said)
            self.assertEqual(sorted(path.name[:6] for path in (folder / "torch-traces").iterdir()), ["rank0.", "rank1."])
        self.export(folder, "torch", "--pid", "100")
        self.assertNotIn("numbered", self.said)

    def check_torch(self, rank, events):
        spans = [event for event in events if event["ph"] == "X"]
        work = [event for event in spans if event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")]
        self.assertEqual(sorted((int(event["ts"] * 1000), int((event["ts"] + event["dur"]) * 1000)) for event in work),
                         sorted((start, end) for _, start, end, *_ in rank.work))
        self.assertTrue(all(event["pid"] == rank.device and event["tid"] == event["args"]["stream"] for event in work))
        calls = {event["args"]["correlation"]: event for event in spans if event["cat"] == "cuda_runtime"}
        self.assertEqual(len(calls), rank.calls)
        starts = {event["id"]: event for event in events if event["ph"] == "s"}
        ends = {event["id"]: event for event in events if event["ph"] == "f"}
        self.assertEqual(set(starts), set(ends))
        self.assertEqual(set(ends), {event["args"]["correlation"] for event in work})
        for number, start in starts.items():
            self.assertEqual((start["ts"], start["tid"]), (calls[number]["ts"], calls[number]["tid"]))
        self.assertEqual(sorted(event["name"] for event in spans
                                if event["name"].startswith("ProfilerStep#") and event["cat"] == "user_annotation"),
                         [f"ProfilerStep#{number}" for number in range(6)])
        self.check_projection(rank, spans)
        kernel = next(event for event in work if event["cat"] == "kernel")
        self.assertEqual((kernel["args"]["grid"], kernel["args"]["block"]), ([8, 4, 1], [128, 2, 1]))
        self.assertAlmostEqual(float(kernel["args"]["blocks per SM"]), 32 / 132)
        self.assertAlmostEqual(float(kernel["args"]["warps per SM"]), 32 * 8 / 132)

    def check_projection(self, rank, spans):
        """Steps and ranges lie on each stream, around what was launched inside. Copies are launched from another thread, and
        so belong to the step alone."""
        def edges(event):
            return int(event["ts"] * 1000), int((event["ts"] + event["dur"]) * 1000)
        wanted = Counter()
        for event in spans:
            if event["cat"] != "user_annotation" or event["name"].startswith("overlap"):
                continue
            (begin, end), is_step = edges(event), event["name"].startswith("Prof")
            for stream in (7, 20):
                inside = [work for work in rank.work if work[3] == stream and begin <= work[4] < end
                          and (is_step or work[0] != "memory")]
                if inside:
                    wanted[event["name"], stream, min(w[1] for w in inside) - 1, max(w[2] for w in inside) + 1] += 1
        found = Counter((event["name"], event["tid"], *edges(event)) for event in spans if event["cat"] == "gpu_user_annotation")
        self.assertGreaterEqual(len(wanted), 20)
        self.assertEqual(found, wanted)
        self.assertTrue(all(event["pid"] == rank.device for event in spans if event["cat"] == "gpu_user_annotation"))

    def test_torch_refusals(self):
        folder, _ = self.run_of("refused", ranks=1, steps=1)
        self.export(folder, "torch", "-o", "-", code=2)
        self.assertIn("folder", self.said)
        self.export(folder, "torch", "-o", str(folder / "x.json"), code=2)
        self.export(folder, "torch", "--pid", "4000", code=2)
        self.assertIn("GPU", self.said)
        self.export(folder, "torch", "-o", "/nowhere/at/all", code=125)
        self.export(folder, "torch", "--max-size", "2K", "-o", str(folder / "cut"), code=2)
        self.assertEqual(list((folder / "cut").iterdir()), [])

    def test_torch_has_more_ranks_than_files_may_be_open(self):
        """With 64, those of the export take the last: the traces, which are opened again for each part, share one."""
        folder, ranks = self.run_of("many", ranks=130, steps=1, kernels=2)
        for limit in 100, 64:
            out = folder / f"torch{limit}"
            ran = subprocess.run(["/bin/sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", PROFTRACE, "export", folder, "--to", "torch", "-o", out],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            found = {}
            for path in out.iterdir():
                with gzip.open(path, "rt", encoding="utf-8") as file:
                    found[path.name] = sum(event.get("cat") == "kernel" for event in json.load(file)["traceEvents"])
            self.assertEqual(found, {f"rank{number}.{rank.pid}.pt.trace.json.gz": sum(work[0] != "memory" for work in rank.work)
                                     for number, rank in enumerate(ranks)}, limit)

    def test_a_failed_export_leaves_the_one_before(self):
        folder, _ = self.run_of("twice", ranks=6, seed=2)
        out = folder / "torch"
        self.export(folder, "torch", "-o", str(out))
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        self.assertEqual(len(before), 6)
        sizes = [len(gzip.decompress(content)) for _, content in sorted(before.items())]
        self.assertLess(sizes[0], max(sizes))  # it is whole before another one fails
        self.export(folder, "torch", "--max-size", str(max(sizes) - 1), "-o", str(out), code=2)
        self.assertEqual({path.name: path.read_bytes() for path in out.iterdir()}, before)

    def test_anything_at_all(self):
        for seed in (0, 1, 2, 3, 4, 8):  # 8: a piece of work of no length whose call is told later
            with self.subTest(seed=seed):
                text, folder = self.folder / f"hostile{seed}.pt.txt", self.folder / f"hostile{seed}"
                hostile_gpu.write(text, seed)
                folder.mkdir()
                subprocess.run([PROFTRACE, "assemble", text, "-o", folder], check=True, capture_output=True)
                written = self.export(folder, "chrome")
                self.check_trace(folder / "trace.json.gz", written)
                self.check_in_perfetto(folder / "trace.pftrace", self.export(folder, "perfetto"))
                self.export(folder, "torch")
                for path in (folder / "torch-traces").iterdir():
                    self.read_torch(path)

    def test_a_run_without_a_gpu(self):
        folder = self.folder / "none"
        folder.mkdir()
        text = self.folder / "none.pt.txt"
        gpu_story.write(text, ranks=0)
        with open(text, "a", encoding="utf-8") as file:
            file.write('process 7 ppid=1 uid=1 trace_id=0x7 start=0.000000000 end=1.000000000 state=exited exit_status=0 heap=off '
                       'heap_sample_bytes=0 cpu_ns=1 max_rss_bytes=1 boot="b" host="h1" stage="" comm="a" exe="/a" cwd="/" '
                       'argc=1 argv=["a"]\nthread 7/7 slot=0 life=1 start=0.000000000\n')
        subprocess.run([PROFTRACE, "assemble", text, "-o", folder], check=True, capture_output=True)
        _, _, written = self.both(folder)
        self.assertEqual((written["slices"], written["counters"]), (1, 0))
        self.export(folder, "torch", code=2)
        self.assertIn("proftrace doctor", self.said)


if __name__ == "__main__":
    unittest.main()
