#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Accounts of traces that were written by hand: more threads than a report has rows for, and ends of connections in other hands."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from account_case import PROFTRACE, AccountCase

PROCESS = ('process {pid} ppid={ppid} uid=1000 trace_id={pid:#x} {parent} start=0.000000000 end=10.000000000 state=exited exit_status=0 heap=off '
           'cpu_ns=0 max_rss_bytes=1048576 boot="b" host="h1" stage="s" comm="p{pid}" exe="/usr/bin/p" cwd="/work" argc=1 argv=["p"]')


class Stories(AccountCase):
    def tell(self, processes, events):
        return self.report_of(processes, events)["stages"][0]

    def report_of(self, processes, events):
        """A report about processes ({pid: (parent, [tid, ...])}) and events [(start, duration or None, who, what)]."""
        lines = ["proftrace-text 1 start_realtime_ns=1705320000000000000"]
        for pid, (ppid, tids) in processes.items():
            lines.append(PROCESS.format(pid=pid, ppid=ppid, parent=f"parent_trace_id={ppid:#x}" if ppid in processes else ""))
            lines += [f"thread {pid}/{tid} slot={slot} life=1 start=0.000000000" for slot, tid in enumerate(tids)]
        for start, duration, who, what in sorted(events, key=lambda event: event[0] + (event[1] or 0)):
            lines.append(f"{start:.9f} {'' if duration is None else f'+{duration:.9f} '}{who} {what}")
        run = tempfile.mkdtemp(dir=self.folder)
        story = run + ".pt.txt"
        with open(story, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        subprocess.run([PROFTRACE, "assemble", story, "-o", run], check=True, capture_output=True, timeout=60)
        done = subprocess.run([PROFTRACE, "report", run, "--format", "json"], check=True, capture_output=True, timeout=60)
        return json.loads(done.stdout)

    def test_waits_of_idle_threads_are_one_row(self):
        """A helper that waits for work all its life is no reason to look at semaphores; a main thread's wait is."""
        sem = "lock_sem result=0 addr=0x7f0000001000"
        stage = self.tell({100: (1, [100, 101, 102])}, [
            (1.0, 0.5, "100/100", sem), (0.1, 4.8, "100/101", sem), (5.0, 4.9, "100/101", sem),
            (0.1, 9.8, "100/102", 'net_accept fd=4 result=5 peer="tcp 10.0.0.9:4000" local="tcp 10.0.0.1:80" path="tcp bound *:80"')])
        rows = {row["call"]: (row["calls"], row["total_s"] and round(row["total_s"], 6), row["p95_s"]) for row in stage["calls"]}
        self.assertEqual(rows, {"lock_sem": (3, 0.5, 0.5), "net_accept": (1, None, None), "(idle threads)": (None, 19.5, None)})

    def test_idle_threads_of_a_pool_are_one_row(self):
        """Threads of OpenBLAS, of OpenMP: a condition each, on which it waits all its life. One that works has a row of its own."""
        idle = range(101, 109)
        waits = [(0.01, 9.95, f"100/{tid}", f"lock_cond error=0 addr={0x7f0000001000 + 0x40 * tid:#x} mutex=0x7f0000000040") for tid in idle]
        busy = [(0.5 * i, 0.3, "100/120", "lock_cond error=0 addr=0x7f0000009000 mutex=0x7f0000000040") for i in range(1, 10)]
        stage = self.tell({100: (1, [100, *idle, 120])}, waits + busy)
        self.assertEqual([(row["process"], row["tid"]) for row in stage["threads"]], [("p100", 120), ("p100", 100), ("8 idle threads", None)])
        self.assertAlmostEqual(stage["threads"][-1]["lock_s"], 8 * 9.95, places=3)
        self.check_sum(stage["threads"][-1], stage["threads"][-1]["lives_s"])
        rows = [(row["lock"], row["waits"], round(row["total_s"], 3)) for row in stage["signals"]]
        self.assertEqual(rows, [("condition 0x7f0000009000", 9, 2.7), ("8 of idle threads", 8, 79.6)])
        few = self.tell({100: (1, [100, *idle, 120])}, waits[:3] + busy)  # what is no pool has its rows
        self.assertEqual([row["tid"] for row in few["threads"]][:4], [101, 102, 103, 120])
        self.assertEqual([row["waits"] for row in few["signals"]], [1, 1, 1, 9])

    def read_again(self, passes):
        """The evidence that a file of 4 MiB is read again, which the process itself has made, and then reads from start to end."""
        whole, steps = 1 << 22, [(0.1, 0.0001, 'io_open fd=3 result=3 path="/work/data" flags=O_RDWR|O_CREAT|O_TRUNC'),
                                 (0.2, 0.01, 'io_pwrite fd=3 result=4194304 path="/work/data" offset_bytes=0')]
        steps += [(1.0 + i / 2, 0.4, f'io_pread fd=3 result={whole} path="/work/data" offset_bytes=0') for i in range(passes)]
        report = self.report_of({100: (1, [100])}, [(start, duration, "100/100", what) for start, duration, what in steps])
        return [{key: finding["evidence"].get(key) for key in ("read_again_bytes", "distinct_bytes", "read_bytes")} | {"gain": finding["gain_upper_s"]}
                for finding in report["findings"] if finding["rule"] == "reread_files"]

    def test_what_was_written_is_read_once_for_that(self):
        """What a process makes and reads back is no waste; what it then reads again and again is."""
        whole = 1 << 22
        self.assertEqual(self.read_again(2), [])
        found, = self.read_again(10)
        self.assertEqual((found["read_again_bytes"], found["distinct_bytes"], found["read_bytes"]), (8 * whole, whole, 10 * whole))
        self.assertGreater(found["gain"], 8 * 0.4)
        self.assertLess(found["gain"], 0.8 * 5.8)  # with what is done between the reads

    def test_a_stream_and_a_descriptor_read_one_file(self):
        """What both read is one file's bytes, once. A command has no Python: the line that starts it is the place, and not one that reads more."""
        whole = 1 << 22
        steps = [
            (0.10, 0.0001, "100/100", 'io_open fd=3 result=3 path="/usr/lib/python3/m.py" flags=O_RDONLY'),
            (0.85, 0, "100/100", 'python_place stack=["3:1:<module>:/app/prog.py"] stands_for_ns=700000000'),
            (0.20, 0.7, "100/100", f'io_pread fd=3 result={whole} path="/usr/lib/python3/m.py" offset_bytes=0'),
            (0.95, 0.0001, "100/100", 'io_open fd=4 result=4 path="/work/data" flags=O_RDONLY'),
            (1.00, 0.4, "100/100", f'io_pread fd=4 result={whole} path="/work/data" offset_bytes=0'),
            (8.99, 0, "100/100", 'python_place stack=["19:18:Set.load:/app/prog.py"] stands_for_ns=7000000000'),
            (2.00, 7.0, "100/100", "wait_child id_type=-1 result=200 asked_pid=200 status=0x0 options=0x0"),
            (2.10, 0.0001, "200/200", 'stdio_open fd=5 result=0 path="/work/data"')]
        steps += [step for i in range(4) for step in (
            (2.2 + i, 0.8, "200/200", f'stdio_read fd=5 bytes={whole} path="/work/data"'),
            (3.1 + i, 0.0001, "200/200", 'stdio_seek fd=5 result=0 path="/work/data" position_plus_1=1'))]
        report = self.report_of({100: (1, [100]), 200: (100, [200])}, steps)
        found, = [finding for finding in report["findings"] if finding["rule"] == "reread_files"]
        counts = {key: found["evidence"][key] for key in ("read_again_bytes", "read_again_files", "distinct_bytes", "read_bytes")}
        self.assertEqual(counts, {"read_again_bytes": 4 * whole, "read_again_files": 1, "distinct_bytes": whole, "read_bytes": 5 * whole})
        self.assertEqual((found["place"]["function"], found["place"]["line"]), ("Set.load", 19))

    def test_what_python_asks_of_a_file_that_it_has_made(self):
        """fstat and two seeks behind each open, and the interpreter's way between them, go with the file."""
        steps, rounds = [], 3000
        for i in range(rounds):
            at = 0.1 + i * 100e-6
            for after, took, what in ((0, 12, 'io_open fd=3 result=3 path="/work/tmp" flags=O_WRONLY|O_CREAT|O_TRUNC'),
                                      (17, 0.5, 'meta_stat fd=3 result=0 path="/work/tmp" flags=0x1000'),
                                      (20.5, 0.2, 'io_seek fd=3 position_bytes=0 path="/work/tmp" whence=SEEK_CUR'),
                                      (23.7, 0.2, 'io_seek fd=3 position_bytes=0 path="/work/tmp" whence=SEEK_CUR'),
                                      (25.9, 0.7, 'io_close fd=3 result=0 path="/work/tmp"'),
                                      (27.6, 12, 'meta_rename result=0 path="/work/tmp" to_path="/work/state"')):
                steps.append((at + after * 1e-6, took * 1e-6, "100/100", what))
        found, = [f for f in self.report_of({100: (1, [100])}, steps)["findings"] if f["rule"] == "rewritten_files"]
        self.assertAlmostEqual(found["gain_upper_s"], rounds * 37.6e-6 * 1.1, delta=0.005)

    def test_no_more_is_distinct_than_was_read(self):
        """What was read is known in pieces of 4 KiB."""
        stage = self.tell({100: (1, [100])}, [(0.1, 0.0001, "100/100", 'io_open fd=3 result=3 path="/work/data" flags=O_RDONLY'),
                                              (0.2, 0.001, "100/100", 'io_pread fd=3 result=100 path="/work/data" offset_bytes=1000000')])
        self.assertEqual([(row["read_bytes"], row["distinct_bytes"]) for row in stage["files"]], [(100, 100)])

    def test_threads_beyond_the_rows_are_one(self):
        tids = range(101, 181)
        sleep = "wait_sleep clock=1 result=0 is_absolute=0 requested_ns=1"
        stage = self.tell({100: (1, [100, *tids])}, [(1.0, (tid - 100) / 20, f"100/{tid}", sleep) for tid in tids])
        rows = stage["threads"]
        self.assertEqual([row["tid"] for row in rows], [*range(180, 116, -1), None])
        self.assertEqual(rows[-1]["process"], "17 other threads")
        self.assertAlmostEqual(rows[-1]["sleep_s"], sum(range(1, 17)) / 20)
        self.assertIsNone(rows[-1]["python_s"])
        for row in rows:
            self.check_sum(row, row["lives_s"])
        self.assertEqual([row["lived_s"] for row in rows[:-1]], [row["lives_s"] for row in rows[:-1]])
        self.assertIsNone(rows[-1]["lived_s"])  # 17 threads have no one life: their sum is longer than the run
        self.assertIn("lives_s", rows[-1]["lived_s_reason"])

    def test_a_call_within_a_call_within_a_call(self):
        """Each has what is its own: the innermost was taken off the one around it, and not once more off the outermost."""
        stage = self.tell({100: (1, [100])}, [
            (1.0, 3.0, "100/100", "wait_child id_type=-1 result=200 asked_pid=200 status=0x0 options=0x0"),
            (1.5, 2.0, "100/100", 'io_read fd=3 result=1 path="/work/data" requested_bytes=1'),
            (2.0, 1.0, "100/100", "wait_sleep clock=1 result=0 is_absolute=0 requested_ns=1")])
        self.assertEqual([round(stage["time"][key], 6) for key in ("child_wait_s", "file_read_s", "sleep_s")], [1, 1, 1])

    def test_a_call_within_a_wait_that_gets_its_name_later(self):
        """What the wait of an event loop was for is told by the next call; what it contains stays taken off once."""
        stage = self.tell({100: (1, [100])}, [
            (0.1, 0.001, "100/100", 'net_connect fd=5 result=0 peer="tcp 127.0.0.1:80" local="tcp 127.0.0.1:4000"'),
            (1.0, 4.0, "100/100", "wait_child id_type=-1 result=200 asked_pid=200 status=0x0 options=0x0"),
            (1.5, 2.5, "100/100", 'wait_poll path="anon_inode:[eventpoll]" fd=3 result=1 timeout_ms=-1 fds=1'),
            (2.0, 1.0, "100/100", "wait_sleep clock=1 result=0 is_absolute=0 requested_ns=1"),
            (4.0, 0.1, "100/100", 'net_receive fd=5 result=100 path="tcp 127.0.0.1:80" flags=0x0 messages=1')])
        self.assertEqual([round(stage["time"][key], 2) for key in ("child_wait_s", "network_s", "sleep_s")], [1.4, 1.6, 1])

    def connection(self, server, descriptor, reader, peer="tcp 127.0.0.1:80", local="tcp 127.0.0.1:4000", there="tcp 127.0.0.1:4000"):
        """Steps of a request of process 100 and the answer of 300, which sleeps for a second."""
        return [(0.1, 0.001, "100/100", f'net_connect fd=5 result=0 peer="{peer}" local="{local}"'),
                (1.0, 1.0, server, "wait_sleep clock=1 result=0 is_absolute=0 requested_ns=1000000000"),
                (2.0, 0.001, server, f'net_send fd=9 result=1 path="{there}" flags=0x0 messages=1'),
                (0.9, 1.1005, reader, f'net_receive fd={descriptor} result=1 path="{peer}" flags=0x0 messages=1')]

    def waits(self, processes, events):
        return [(row["step"], row["tid"], round(row["sleep_s"], 3)) for row in self.tell(processes, events).get("waits", [])]

    def test_a_connection_in_other_hands(self):
        two = {100: (1, [100]), 300: (100, [300, 301])}
        self.assertEqual(self.waits(two, self.connection("300/301", 5, "100/100")), [(1, 301, 1.0)])
        copied = self.connection("300/301", 17, "100/100")
        self.assertEqual(self.waits(two, copied), [(1, 301, 1.0)], "dup(2) makes another descriptor")

    def test_a_connection_that_a_child_inherits(self):
        three = {100: (1, [100]), 200: (100, [200]), 300: (100, [300, 301])}
        wait = [(0.5, 2.0, "100/100", "wait_child id_type=-1 result=200 asked_pid=200 status=0x0 options=0x0")]
        self.assertEqual(self.waits(three, self.connection("300/301", 5, "200/200") + wait), [(1, 200, 0), (2, 301, 1.0)])

    def test_unix_sockets_are_told_by_who_connects(self):
        two = {100: (1, [100]), 300: (100, [300, 301])}
        events = self.connection("300/300", 5, "100/100", peer="unix /run/s", local="", there="unix /run/s (pid 100)")
        self.assertEqual(self.waits(two, events), [(1, 300, 1.0)])

    def test_a_lock_that_another_process_holds(self):
        """A mutex in shared memory: the thread that held it is of another process, as the table of locks says, too."""
        processes = {100: (1, [100]), 200: (100, [200, 201])}
        events = [(1.0, 1.0, "200/201", "wait_sleep clock=1 result=0 is_absolute=0 requested_ns=1000000000"),
                  (1.0, 1.0, "100/100", "lock_mutex kind=0x80 result=0 owner_tid=201 addr=0x7f0000001000")]
        self.assertEqual(self.waits(processes, events), [(1, 201, 1.0)])
        self.assertEqual([row["holder"] for row in self.tell(processes, events)["locks"]], ["thread 201, process 200"])

    def test_other_machines_are_not_looked_for_here(self):
        two = {100: (1, [100]), 300: (100, [300, 301])}
        events = self.connection("300/300", 5, "100/100", peer="tcp 10.0.0.9:80", local="tcp 10.0.0.1:4000", there="tcp 10.0.0.1:4000")
        self.assertEqual(self.waits(two, events), [])

    def test_a_known_command_beyond_the_most_that_are_told_apart(self):
        """1,000 different ones came between: the first one is still itself."""
        names = ["ffmpeg"] * 5 + [f"cp img_{i}" for i in range(1200)] + ["ffmpeg"] * 5
        stage = self.tell({100: (1, [100])}, [(0.007 * i, 0.005, "100/100", f'proc_system status=0x0 command="{name}"') for i, name in enumerate(names)])
        row = next(row for row in stage["commands"] if row["command"] == "ffmpeg")
        self.assertEqual((row["waits"], round(row["total_s"], 6)), (10, 0.05))

    def test_a_known_range_beyond_the_most_names(self):
        """A range per iteration, each with a name of its own, and two in each that are the same."""
        events = []
        for i in range(5000):
            at = 0.001 * i
            events += [(at, None, "100/100", f'range_begin name="iteration {i}"'), (at + 0.0001, None, "100/100", 'range_begin name="forward"'),
                       (at + 0.0003, None, "100/100", "range_end"), (at + 0.0008, None, "100/100", "range_end")]
        rows = {row["name"]: (row["calls"], round(row["total_s"], 6)) for row in self.tell({100: (1, [100])}, events)["ranges"]}
        self.assertEqual(rows["forward"], (5000, 1.0))
        self.assertEqual(rows["(other ranges)"][0], 5000 - 4095)

    def test_a_promise_beyond_the_most_names(self):
        """Jobs with ids in their names came before it: its calls were among all others', and nobody was told of those that took longer."""
        events = []
        for i in range(4200):
            at = 0.001 * i
            events += [(at, None, "100/100", f'range_begin name="job-{i}"'), (at + 0.0001, None, "100/100", "range_end")]
        for i in range(300):
            at = 5 + 0.001 * i
            events += [(at, None, "100/100", f'counter name="request_{i}.sla_s" value=0.0002'), (at + 0.0001, None, "100/100", f'range_begin name="request_{i}"'),
                       (at + 0.0005, None, "100/100", "range_end")]
        stage = self.tell({100: (1, [100])}, events)
        hours = {row["name"]: (row["calls"], row["violations"]) for row in stage["requests_by_hour"]}
        self.assertEqual(hours["request_0"], (1, 1))
        self.assertEqual(len(hours), 255)  # the others have a place, too
        self.assertEqual({(row["calls"], row["violations"]) for row in stage["ranges"]}, {(1, 1)})

    def test_thousands_of_ranges_are_open_at_once(self):
        """A server's requests, each a range that another thread closes; as many again are never closed."""
        events = []
        for i in range(3000):
            events += [(0.0001 * i, None, "100/100", f'range_open name="request" id={i + 1}'), (2 + 0.0001 * i, None, "100/101", f"range_close id={i + 1}")]
            events.append((1 + 0.0001 * i, None, "100/100", f'range_open name="lost" id={100000 + i}'))
        rows = {row["name"]: row["calls"] for row in self.tell({100: (1, [100, 101])}, events)["ranges"]}
        self.assertEqual(rows, {"request": 3000, "lost": 3000})


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
