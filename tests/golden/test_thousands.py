#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs of thousands of short processes: a report's time and memory are those of what they did, not of their number squared or of
tables that each of them might have filled. Each trace is written as text, as the stories are."""
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROFTRACE = os.path.join(os.environ["PROFTRACE_BUILD"], "proftrace")
PARENT = 99


class Story:
    def __init__(self, argv, every_s):
        self.argv, self.every_s = argv, every_s
        self.heads, self.events = [], []

    def process(self, pid, ppid, start_s, end_s):
        parent = f"parent_trace_id={ppid:#x} " if ppid == PARENT else ""
        self.heads.append(
            f'process {pid} ppid={ppid} uid=1000 trace_id={pid:#x} {parent}start={start_s:.9f} end={end_s:.9f} state=exited exit_status=0 heap=off '
            f'cpu_ns=1000000 max_rss_bytes=1048576 boot="b" host="h1" stage="s" comm="{self.argv[0]}" exe="/usr/bin/{self.argv[0]}" cwd="/" '
            f'argc={len(self.argv)} argv=[' + ",".join(f'"{word}"' for word in self.argv) + "]")
        self.heads.append(f"thread {pid}/{pid} slot=0 life=1 start={start_s:.9f}")

    def one_after_the_other(self, n, tell):
        """Copies of a parent, which each live for most of the time until the next one."""
        self.process(PARENT, 1, 0, 1 + n * self.every_s)
        for i in range(n):
            start_s = 0.5 + i * self.every_s
            self.process(100 + i, PARENT, start_s, start_s + 0.95 * self.every_s)
            self.events += tell(100 + i, start_s)

    @contextlib.contextmanager
    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            story, run = os.path.join(folder, "story.pt.txt"), os.path.join(folder, "run")
            os.mkdir(run)
            with open(story, "w", encoding="utf-8") as file:
                file.write("\n".join(["proftrace-text 1 start_realtime_ns=1705320000000000000", *self.heads, *self.events]) + "\n")
            subprocess.run([PROFTRACE, "assemble", story, "-o", run], check=True)
            yield run

    def reports(self, times):
        """CPU time and peak memory of its report, for each of so many."""
        with self.run() as run:
            return [self.report(run) for _ in range(times)]

    def stage(self):
        """What the report says of it."""
        with self.run() as run:
            done = subprocess.run([PROFTRACE, "report", run, "--format", "json"], stdout=subprocess.PIPE, check=True)
            return json.loads(done.stdout)["stages"][0]

    @staticmethod
    def report(run):
        process = subprocess.Popen([PROFTRACE, "report", run, "--format", "json"], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"the report failed: {process.returncode}")
        # Their sum is counted in nanoseconds; what of it is whose is told by ticks, of which a short report has too few.
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


class Thousands(unittest.TestCase):
    def seconds(self, n, times):
        """Of the report that was disturbed least."""
        every_s = 0.008
        story = Story(("sh", "jobs.sh"), every_s)
        story.one_after_the_other(n, lambda pid, start_s: [
            f"{start_s + 0.0001:.9f} +{0.96 * every_s:.9f} {PARENT}/{PARENT} "
            f"wait_child id_type=-1 result={pid} asked_pid={pid} status=0x0 options=0x0"])
        return min(seconds for seconds, _ in story.reports(times))

    def test_copies_that_are_waited_for_one_by_one(self):
        """A shell that runs `( cd d; cmd )`, Python that starts and joins: four times as many take about four times as long. Each was
        compared with all others: then it is about eight times."""
        for _ in range(3):
            few, many = self.seconds(3000, 5), self.seconds(12000, 3)
            if many / few < 6:
                break
        self.assertLess(many / few, 6, f"{few:.2f} s, {many:.2f} s")

    def bytes(self, n, tell):
        story = Story(("python3", "job.py"), 0.002)
        story.one_after_the_other(n, tell)
        return story.reports(1)[0][1]

    def test_short_programs_in_python(self):
        """Each imported a module, and its garbage collector ran once: that was 29 kB for each, and none of it is needed."""
        n = 3000

        def phases(pid, start_s):
            told = ('phase_begin phase=import object=0x0 name="json"', 'phase_begin phase=garbage_collection object=0x0 name=""',
                    "phase_end outcome=done amount=0 object=0x0", "phase_end outcome=done amount=0 object=0x0")
            return [f"{start_s + (i + 1) * 0.0001:.9f} {pid}/{pid} {text}" for i, text in enumerate(told)]

        def reads(pid, start_s):
            return [f'{start_s + 0.0001:.9f} +0.000010000 {pid}/{pid} io_open fd=3 result=3 path="/work/data" flags=O_RDONLY']

        more = self.bytes(n, phases) - self.bytes(n, reads)
        self.assertLess(more / n, 16 << 10)

    def test_a_server_of_many_clients_asks_none(self):
        """Of more than 65,536 addresses it is not remembered that they were accepted. That it has a connection of its own, to a
        database, does not make theirs its own."""
        story, n, every_s = Story(("server",), 0.0001), 65700, 0.0001
        end_s = 1 + n * every_s
        story.process(100, 1, 0, end_s + 3)
        story.events.append('0.400000000 +0.000010000 100/100 net_connect fd=9 result=0 peer="tcp 10.8.8.8:5432" local="tcp 10.9.9.9:4"')
        for i in range(n):
            start_s = 0.5 + i * every_s
            name = f"tcp 10.{i >> 16}.{i >> 8 & 255}.{i & 255}:4000"
            for at, text in enumerate((f'net_accept fd=4 result=5 peer="{name}" local="tcp 10.9.9.9:80" path="tcp bound 10.9.9.9:80"',
                                       f'net_receive fd=5 result=30 path="{name}" flags=0x0 messages=1',
                                       f'net_send fd=5 result=300 path="{name}" flags=0x0 messages=1',
                                       f'net_receive fd=5 result=30 path="{name}" flags=0x0 messages=1')):
                story.events.append(f"{start_s + at * 0.00002:.9f} +0.000010000 100/100 {text}")
        story.events += [f'{end_s:.9f} +2.900000000 100/100 wait_poll fd=3 result=1 path="anon_inode:[eventpoll]" fds=1 timeout_ms=-1',
                         f'{end_s + 2.9:.9f} +0.000010000 100/100 net_receive fd=5 result=30 path="{name}" flags=0x0 messages=1']
        stage = story.stage()
        self.assertEqual((stage["requests"], [host["host"] for host in stage["hosts"]]), (0, ["tcp 10.8.8.8:5432"]))
        self.assertGreater(stage["time"]["idle_s"], 2.9)


if __name__ == "__main__":
    unittest.main()
