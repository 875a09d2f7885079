#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that no program makes on purpose, exported and opened: hostile names, half-overlapping calls, reused pids."""
import json
import subprocess
import unittest

from viewer_case import BUILD, ViewerCase

SYNTHETIC = BUILD / "tests" / "viewer_synthetic"


class Synthetic(ViewerCase):
    def export(self, scenario, number=0, suffix=".json.gz"):
        trace = self.folder / f"{scenario}{number}{suffix}"
        ran = subprocess.run([SYNTHETIC, scenario, trace, str(number)], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return trace, json.loads(ran.stdout)

    def slices(self, trace, where="true"):
        return self.ask(trace, "select p.pid, t.tid, s.ts, s.dur, s.depth, s.name from slice s join thread_track k on "
                        "s.track_id = k.id join thread t using (utid) left join process p using (upid) "
                        f"where {where} order by s.ts, s.depth")[0]

    def test_nothing_recorded(self):
        trace, written = self.export("empty")
        self.assertEqual(written["slices"], 0)
        self.check_trace(trace, written)

    def test_process_without_events(self):
        trace, written = self.export("idle")
        self.check_trace(trace, written)
        self.assertEqual([row[:5] for row in self.slices(trace)], [["100", "100", "0", "5000", "0"]])

    def test_calls_nest_in_ranges_and_touch(self):
        trace, written = self.export("nested")
        self.check_trace(trace, written)
        self.assertEqual(written["moved"], 0)
        reads = [row[2:5] for row in self.slices(trace, "s.name = 'read'")]
        self.assertEqual(reads, [["1000", "1000", "3"], ["2000", "1000", "3"], ["4000", "5000", "3"],
                                 ["5000", "1000", "4"], ["5000", "0", "5"]])

    def test_values_that_are_no_numbers_are_left_out(self):
        trace, written = self.export("nested")
        values = self.ask(trace, "select cast(value as text) from counter c join counter_track t on c.track_id = t.id "
                          "where t.name like 'forward%' order by c.ts")[0]
        self.assertEqual([float(value) for (value,) in values], [0.1, -1e300])

    def test_overlapping_calls_get_rows_of_their_own(self):
        trace, written = self.export("overlap")
        self.check_trace(trace, written)
        self.assertGreater(written["moved"], 0)
        reads = self.slices(trace, "s.name = 'read'")
        self.assertIn(["15000", "10000"], [row[2:4] for row in reads])
        self.assertEqual(len(reads) + written["left_out"], 15)

    def test_hostile_names(self):
        trace, written = self.export("hostile", suffix=".json")
        self.check_trace(trace, written)
        names = self.ask(trace, "select hex(name) from slice where name like '%<%'")[0]
        self.assertEqual(len(names), 255)
        for (name,) in names:
            bytes.fromhex(name).decode("utf-8")

    def test_arrows_from_parent_to_child(self):
        trace, written = self.export("forks")
        self.check_trace(trace, written)
        arrows = self.ask(trace, "select a.name, b.name, b.ts from flow f join slice a on f.slice_out = a.id "
                          "join slice b on f.slice_in = b.id order by b.ts")[0]
        self.assertEqual(arrows, [["fork", "python3 train.py", "1200"], ["exec", "python3 train.py", "5100"],
                                  ["spawn", "python3 train.py", "20300"], ["exec", "python3 train.py", "40100"]])

    def test_arrows_to_very_many_children(self):
        """Of which no event says who made them: in Perfetto's format a slice has room for 512 arrows, and those beyond were counted as if they were there."""
        folder, story = self.folder / "children", self.folder / "children.pt.txt"
        children = [(pid, f" parent_trace_id=0x64 start={pid / 1000:.3f} end={pid / 1000 + .001:.3f}") for pid in range(200, 800)]
        with open(story, "w", encoding="utf-8") as file:
            file.write("proftrace-text 1 start_realtime_ns=1705320000000000000\n")
            for pid, life in ((100, " start=0.0 end=9.0"), *children):
                file.write(f'process {pid} ppid=100 uid=1000 trace_id={pid:#x}{life} state=exited exit_status=0 boot="b" host="h" stage="s" comm="a" exe="/usr/bin/a" argc=1 argv=["a"]\n')
                file.write(f"thread {pid}/{pid} slot=0 life=1 start={life.split('start=')[1].split()[0]}\n")
        subprocess.run([BUILD / "proftrace", "assemble", story, "-o", folder], check=True)
        for form, wanted in (("perfetto", (512, 88)), ("chrome", (600, 0))):
            trace = self.folder / f"children.{form}"
            ran = subprocess.run([BUILD / "proftrace", "export", "--to", form, "--json", "-o", trace, folder], capture_output=True, check=True)
            written = json.loads(ran.stdout)
            self.assertEqual((written["flows"], written["left_out"]), wanted)
            self.check_in_perfetto(trace, written)

    def test_reused_pids_stay_apart(self):
        trace, _ = self.export("forks")
        pids = self.ask(trace, "select count(distinct pid) from process where pid > 0")[0]
        self.assertEqual(pids, [["6"]])

    def test_perfetto_shows_the_same(self):
        shown = ["select ts, dur, category from slice order by 1, 2, 3", "select ts, value from counter order by 1, 2"]
        for scenario in ("empty", "idle", "nested", "hostile", "forks"):
            with self.subTest(scenario=scenario):
                chrome, in_chrome = self.export(scenario)
                perfetto, in_perfetto = self.export(scenario, suffix=".pftrace")
                self.check_in_perfetto(perfetto, in_perfetto)
                for key in ("slices", "instants", "counters", "flows", "left_out"):
                    self.assertEqual(in_chrome[key], in_perfetto[key], key)
                self.assertEqual(self.ask(chrome, *shown), self.ask(perfetto, *shown))

    def test_hostile_names_in_perfetto(self):
        perfetto, _ = self.export("hostile", suffix=".pftrace")
        names, = self.ask(perfetto, "select hex(name) from slice where name like '%<%'")
        self.assertEqual(len(names), 255)
        for (name,) in names:
            bytes.fromhex(name).decode("utf-8")

    def test_anything_at_all_in_perfetto(self):
        for seed in range(12):
            with self.subTest(seed=seed):
                self.check_in_perfetto(*self.export("random", seed, ".pftrace"))

    def test_anything_at_all(self):
        for seed in range(20):
            with self.subTest(seed=seed):
                self.check_strictly(*self.export("random", seed))
        self.check_in_perfetto(*self.export("random", 7))

    def test_a_large_trace(self):
        trace, written = self.export("big", 300000)
        self.check_in_perfetto(trace, written)

    def test_plain_and_packed_are_the_same(self):
        plain, _ = self.export("random", 3, ".json")
        packed, _ = self.export("random", 3, ".json.gz")
        unpacked = subprocess.run(["gzip", "-dc", packed], capture_output=True, check=True).stdout
        self.assertEqual(unpacked, plain.read_bytes())
        self.check_in_perfetto(*self.export("random", 3, ".pftrace.gz"))


if __name__ == "__main__":
    unittest.main()
