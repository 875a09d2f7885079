# SPDX-License-Identifier: MIT
"""`--since`: the figures of a window are those that the program noted itself for it, on a run that goes on and on one that has ended."""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
import unittest

import jsonschema

from launcher_case import LIBRARY, LauncherCase, clean_environment, machine

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "report.schema.json"), encoding="utf-8") as _file:
    SCHEMA = json.load(_file)
# Much at first, then a long sleep, then what the window has: counts, bytes and seconds of it go to a log of its own.
PROGRAM = """
import json, os, sys, time
file = os.open("/etc/passwd", os.O_RDONLY)
out = os.open("out", os.O_WRONLY | os.O_CREAT)
for i in range(400):
    os.pread(file, 9, 0); os.write(out, b"x" * 100)
time.sleep(float(sys.argv[1]))
begin = time.monotonic()
slept = 0
for i in range(77):
    os.pread(file, 10, 0)
for i in range(33):
    os.write(out, b"y" * 7)
for i in range(3):
    before = time.monotonic(); time.sleep(0.1); slept += time.monotonic() - before
log = {"reads": 77, "read_bytes": 770, "writes": 33, "written_bytes": 231, "slept_s": slept, "s": time.monotonic() - begin}
os.write(1, (json.dumps(log) + "\\n").encode())
if len(sys.argv) > 2: sys.stdin.readline()
os._exit(0)
"""
# A child goes on with a file that its parent opened and named, and the parent has ended long before the window.
DAEMON = """
import os, sys, time
out = os.open("log-of-the-daemon", os.O_WRONLY | os.O_CREAT)
os.write(out, b"begin")
if os.fork():
    os._exit(0)
time.sleep(2)
for i in range(5):
    os.write(out, b"goes on")
"""

LISTENS_AFTER_THE_FORK = """
import os, select, socket, time
r, w = os.pipe()
if os.fork():
    time.sleep(0.1)  # the child's start is when it runs
    listener = socket.create_server(("127.0.0.1", 0))
    os.write(w, b"x")
    os.wait()
else:
    os.read(r, 1)
    datagrams = socket.socket(type=socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", 0))
    last = os.dup(r)  # the highest: select names it
    for i in range(7): select.select([datagrams, last], [], [], 0.25)
"""
# One of a metrics server, say.
LISTENS_BEFORE_THE_FORK = LISTENS_AFTER_THE_FORK.replace("r, w = os.pipe()\n", 'r, w = os.pipe()\nlistener = socket.create_server(("127.0.0.1", 0))\n')

# The library sees calls at its start only: a static program, which cannot be traced, and then it computes.
COMPUTES = """
import os, subprocess, sys, time
subprocess.run([sys.argv[2], "-p"], stdout=subprocess.DEVNULL)
end = time.monotonic() + float(sys.argv[1])
os.write(1, b"computes\\n")
while time.monotonic() < end: pass
os._exit(0)
"""


class Since(LauncherCase):
    def report(self, *options):
        done = self.proftrace("report", "run", "--format", "json", *options)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        report = json.loads(done.stdout)
        jsonschema.validate(report, SCHEMA)
        return report

    def check_window(self, log, since_s, report):
        """Its own log, and what the library wrote for it: the line of JSON, as a write to stdout."""
        (process,) = report["processes"]
        io = process["io"]
        self.assertEqual([io["read"]["calls"], io["read"]["bytes"]], [log["reads"], log["read_bytes"]])
        self.assertEqual(io["write"]["calls"], log["writes"] + 1)
        self.assertEqual(io["write"]["bytes"], log["written_bytes"] + len(json.dumps(log)) + 1)
        self.assertEqual(io["open"]["calls"], 0)
        window = report["window"]
        self.assertAlmostEqual(window["until_s"] - window["from_s"], since_s, places=6)
        self.assertAlmostEqual(report["total_duration_s"], since_s, places=6)
        calls = {row["call"]: row for row in report["stages"][0]["calls"]}
        self.assertEqual(calls["pread" if "pread" in calls else "read"]["calls"], log["reads"])
        # What has no times is null, with the reason.
        self.assertIsNone(process["heap"]["allocs"])
        self.assertIn("not known of a window", process["heap"]["allocs_reason"])
        self.assertIn("not known of a window", process["cpu_s_reason"])
        self.assertIn("not known of a window", report["stages"][0]["workers"][0]["cpu_s_reason"])
        events = report["trace_quality"]["events"]
        calls = log["reads"] + log["writes"] + 1 + 3  # sleeps
        self.assertEqual(process["events"]["recorded"], events)
        self.assertGreaterEqual(events, calls)
        self.assertLess(events, calls + 300)  # 800 calls lie before; of allocations some are noted
        time_of_stage = report["stages"][0]["time"]
        self.assertIsNone(time_of_stage["heap_s"])
        self.assertIn("not known of a window", time_of_stage["heap_s_reason"])
        self.assertTrue([note for note in report["trace_quality"]["notes"] if note.startswith("a window: the last ")])

    def test_of_a_run_that_has_ended(self):
        done = self.proftrace("run", "--no-report", "-o", "run", "--interval", "100", "--", sys.executable, "-c", PROGRAM, "2.5", text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        log = json.loads(done.stdout)
        whole, report = self.report(), self.report("--since", "1.5s")
        self.assertNotIn("window", whole)
        self.assertEqual(whole["processes"][0]["io"]["write"]["calls"], 434)
        self.check_window(log, 1.5, report)
        stage = report["stages"][0]
        # It slept for all of the window but what it did: the sleep that began before is cut.
        parts = {key: value for key, value in stage["time"].items() if isinstance(value, float) and key not in ("wall_s", "computing_s")}
        self.assertAlmostEqual(sum(parts.values()), stage["time"]["wall_s"], delta=0.02)
        self.assertGreater(parts["sleep_s"], 1.5 - log["s"] - 0.9 + log["slept_s"])
        self.assertLess(parts["sleep_s"], 1.5)
        # Of samples those of the window.
        self.assertLess(stage["cpu_percent_avg"], 30)
        self.assertGreater(stage["rss_mb_max"], 1)
        self.assertEqual(stage["status"], "ok")

    def test_names_that_a_parent_gave_that_had_ended(self):
        done = self.proftrace("run", "--no-report", "-o", "run", "--", sys.executable, "-c", DAEMON, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        stats = json.loads(self.proftrace("stats", "run", "--by", "file", "--since", "1s", "--json").stdout)
        rows = {os.path.basename(row["path"]): row for row in stats["stages"][0]["files"]}
        self.assertIn("log-of-the-daemon", rows)
        self.assertEqual(rows["log-of-the-daemon"]["written_bytes"], 5 * len("goes on"))
        self.assertEqual(len(self.report("--since", "1s")["processes"]), 1)

    def test_all_of_it_is_the_whole_report(self):
        done = self.proftrace("run", "--no-report", "-o", "run", "--", sys.executable, "-c", PROGRAM, "0.1", text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.report("--since", "10m"), self.report())
        self.assertEqual(self.proftrace("report", "run", "--since", "-1s").returncode, 2)

    def test_the_first_rate_of_a_window(self):
        """100 MiB a second all the time, and the window begins 50 ms before its first sample: what was written in the second before that
        sample was not written in 50 ms."""
        done = self.proftrace("run", "--no-report", "-o", "run", "--interval", "50", "--", "sleep", "0.3", text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = os.path.join(self.folder, "run", "run.json")
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        stage = run["stages"][0]
        run["duration_ns"] = stage["duration_ns"] = 10_050_000_000
        times = range(1, 11)
        stage["samples"] = {"t_ns": [t * 10**9 for t in times], "disk_write_bytes": [None if t == 7 else t * 100 * 2**20 for t in times]}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(run, file)
        for since in ("3.1s", "2.1s", "9.5s"):  # of the second the sample before it is not known
            with self.subTest(since=since):
                page = self.proftrace("report", "run", "--format", "html", "--since", since).stdout.decode()
                self.assertEqual(re.findall(r"written: peak (.*?) at", page), ["100 MiB/s"])
        # Up to the last sample, from what there was in proportion when the window began.
        self.assertAlmostEqual(self.report("--since", "3.1s")["stages"][0]["resources"]["disk_write_bytes"], 305 * 2**20, delta=1)

    def test_samples_of_a_long_run(self):
        """They are 100 s apart, and the window begins 10 s before one: it has a tenth of what that sample counted. The first one in it weighs as long."""
        done = self.proftrace("run", "--no-report", "-o", "run", "--", "sleep", "0.3", text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = os.path.join(self.folder, "run", "run.json")
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        stage = run["stages"][0]
        run["duration_ns"] = stage["duration_ns"] = 1000 * 10**9
        times = range(1, 11)
        stage["samples"] = {"t_ns": [t * 100 * 10**9 for t in times], "disk_write_bytes": [t * 1000 for t in times], "cpu_percent": [100 if t == 9 else 12 for t in times],
                            "net_send_bytes": [None if t in (8, 10) else t * 1000 for t in times]}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(run, file)
        (stage,) = self.report("--since", "110s")["stages"]
        self.assertEqual([stage["resources"]["disk_write_bytes"], stage["resources"]["net_send_bytes"]], [1100, 100])
        self.assertAlmostEqual(stage["cpu_percent_avg"], (10 * 100 + 100 * 12) / 110, places=1)

    def test_charts_begin_with_the_window(self):
        """Their axis is the window: a stage that had ended is not there, and one that goes on takes all of it."""
        done = self.proftrace("run", "--no-report", "-o", "run", "--", "sleep", "0.3", text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = os.path.join(self.folder, "run", "run.json")
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        (late,) = run["stages"]
        early = dict(late, stage="early", start_ns=0, duration_ns=5_000_000_000)
        late.update(start_ns=5_000_000_000, duration_ns=5_000_000_000)
        for stage, most in ((early, 900), (late, 50)):
            stage["samples"] = {"t_ns": [t * 10**9 for t in range(1, 5)], "cpu_percent": [0, 0, 0, most]}
        run.update(duration_ns=10_000_000_000, stages=[early, late])
        with open(path, "w", encoding="utf-8") as file:
            json.dump(run, file)
        page = self.proftrace("report", "run", "--format", "html").stdout.decode()
        self.assertIn("used: peak 9 cores at 4 s in early", page)
        page = self.proftrace("report", "run", "--format", "html", "--since", "2s").stdout.decode()
        self.assertIn("used: peak 0.5 cores at 1 s in sleep", page)
        self.assertIn('<svg x="0.00%" width="100.00%" y="0" height="146"><title>sleep</title>', page)

    def test_of_a_run_that_goes_on(self):
        """The window is so long that all of it is in each question below, and shorter than the sleep before it."""
        os.mkdir(os.path.join(self.folder, "run"), 0o700)
        environment = clean_environment(LD_PRELOAD=LIBRARY, PROFTRACE_SESSION=os.path.join(self.folder, "run"))
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, "12", "stay"], cwd=self.folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(self.end, process)
        log = json.loads(process.stdout.readline())
        time.sleep(0.3)  # the event of that line is stored a moment later
        report = self.report("--since", "10s")
        self.check_window(log, 10, report)
        self.assertEqual(report["stages"][0]["status"], "running")
        self.assertIsNone(report["stages"][0]["cpu_percent_avg"])
        stats = json.loads(self.proftrace("stats", "run", "--since", "10s", "--json").stdout)
        rows = {row["call"]: row for row in stats["stages"][0]["calls"]}
        (thread,) = json.loads(self.proftrace("stats", "run", "--by", "thread", "--since", "10s", "--json").stdout)["stages"][0]["threads"]
        self.assertEqual([thread["allocs"], thread["alloc_bytes"], thread["frees"]], [None] * 3)
        self.assertIn("not known of a window", thread["allocs_reason"])
        self.assertEqual(rows["write"]["calls"], log["writes"] + 1)
        sizes = json.loads(self.proftrace("stats", "run", "--by", "size", "--since", "10s", "--json").stdout)["stages"][0]
        self.assertIsNone(sizes["heap_sizes"])
        self.assertIn("not known of a window", sizes["heap_sizes_reason"])
        self.assertIn(b"not known of a window", self.proftrace("stats", "run", "--by", "size", "--since", "10s").stdout)
        shown = self.proftrace("report", "run", "--since", "10s").stdout.decode()
        self.assertRegex(" ".join(shown.split()), r"\AA window, the last 10\.0 s, from \S+ s after its start on\.")

    def rules(self, *options):
        return [finding["rule"] for finding in self.report(*options)["findings"]]

    def test_of_a_program_that_only_computes(self):
        """No call in the window, and what was allocated in it is not known: that is no empty capture."""
        os.mkdir(os.path.join(self.folder, "run"), 0o700)
        environment = clean_environment(LD_PRELOAD=LIBRARY, PROFTRACE_SESSION=os.path.join(self.folder, "run"))
        process = subprocess.Popen([sys.executable, "-c", COMPUTES, "60", machine.need_static_program(self)], cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(self.end_computing, process)
        process.stdout.readline()
        time.sleep(1.5)
        self.assertNotIn("nothing_captured", self.rules("--since", "1s"))

    @staticmethod
    def end_computing(process):
        process.kill()
        process.wait()

    def test_of_a_stage_without_a_trace_beside_one_that_is_over(self):
        """What was captured of another stage before the window is nothing of this one."""
        done = self.proftrace("run", "--no-report", "-o", "run", "--", "sleep", "0.3", text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = os.path.join(self.folder, "run", "run.json")
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        (prepare,) = run["stages"]
        serve = dict(prepare, stage="serve", start_ns=prepare["duration_ns"], duration_ns=9_000_000_000, pid=None)
        run.update(duration_ns=10_000_000_000, stages=[prepare, serve])
        with open(path, "w", encoding="utf-8") as file:
            json.dump(run, file)
        for options in (), ("--since", "2s"):
            with self.subTest(options=options):
                empty = [finding["stage"] for finding in self.report(*options)["findings"] if finding["rule"] == "nothing_captured"]
                self.assertEqual(empty, ["serve"])

    def test_of_one_that_once_ran_an_untraced_program(self):
        """Whose CPU time the window's is, is not known: not that of the untraced program."""
        done = self.proftrace("run", "--no-report", "-o", "run", "--interval", "100", "--", sys.executable, "-c", COMPUTES, "2.5", machine.need_static_program(self), text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.report()["trace_quality"]["untraced"], 1)
        self.assertNotIn("mostly_untraced", self.rules("--since", "1.5s"))
        self.assertEqual(self.report("--since", "1.5s")["trace_quality"]["untraced"], 0)

    def test_of_a_run_that_lost_events(self):
        story = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "events_lost.pt.txt")
        self.assertEqual(self.proftrace("assemble", story, "-o", "run").returncode, 0)
        whole, window = self.report(), self.report("--since", "1s")
        self.assertGreater(whole["trace_quality"]["overwritten"], 0)
        for quality in (window["trace_quality"], window["processes"][0]["events"]):
            self.assertIsNone(quality["overwritten"])
            self.assertIn("of the window is not known", quality["overwritten_reason"])
        self.assertLess(window["trace_quality"]["events"], whole["trace_quality"]["events"])
        self.assertNotIn("events_lost", self.rules("--since", "1s"))

    def assemble(self, story):
        shutil.rmtree(os.path.join(self.folder, "run"), ignore_errors=True)  # it may be one file
        path = os.path.join(self.folder, "story.pt.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("proftrace-text 1 start_realtime_ns=1705320000000000000\n" + story)
        done = self.proftrace("assemble", path, "-o", "run")
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stderr)

    @staticmethod
    def process(pid, name):
        return (f'process {pid} ppid=1 uid=1000 trace_id={pid} start=0.000000000 end=10.000000000 state=exited exit_status=0 heap=off cpu_ns=1000000000 '
                f'max_rss_bytes=26843545 boot="b" host="h1" stage="{name}" comm="{name}" exe="/usr/bin/{name}" cwd="/" argc=1 argv=["{name}"]\n'
                f"thread {pid}/{pid} slot=0 life=1 start=0.000000000\n")

    def test_of_an_event_loop_that_connected_before(self):
        """Its waits are for answers, whether the window begins behind the connect, or the ring has lost it; not where it may be a client's connection."""
        events = "".join(f'{t}.000000000 +0.000010000 7/7 net_send fd=5 result=99 path="tcp 10.0.0.2:443" flags=0x0 messages=1\n'
                         f'{t}.000100000 +0.900000000 7/7 wait_poll fd=3 result=1 path="anon_inode:[eventpoll]" timeout_ms=-1 fds=1\n'
                         f'{t}.900200000 +0.000010000 7/7 net_receive fd=5 result=99 path="tcp 10.0.0.2:443" flags=0x0 messages=1\n' for t in range(1, 10))
        connects = '0.500000000 +0.001000000 7/7 net_connect fd=5 result=0 peer="tcp 10.0.0.2:443" local="tcp 10.0.0.1:41000"\n'
        lost = "totals 7/7 net_connect calls=1 errors=0 bytes=0 ns=1000000\nlost 7 overwritten=1 no_space=0\n"
        also_accepts = "totals 7/7 net_accept calls=3 errors=0 bytes=0 ns=1000000\n"
        for what, story, part, requests in (("a window", connects + events, "network_s", 5), ("lost", events + lost, "network_s", 5),
                                            ("either", events + lost + also_accepts, "unattributed_s", 0)):
            for options in ([], ["--since", "5.5s"]):
                with self.subTest(what=what, options=options):
                    self.assemble(self.process(7, "asks") + story)
                    (stage,) = self.report(*options)["stages"]
                    self.assertGreater(stage["time"][part], 0.9 * (5 if options else 9) - 0.2)
                    self.assertLess(stage["time"]["idle_s"], 0.01)
                    self.assertEqual([[row["host"], row["connections"]] for row in stage.get("hosts", [])],
                                     [["tcp 10.0.0.2:443", not options and what == "a window"]] if requests else [])
                    self.assertGreaterEqual(sum(row["requests"] for row in stage.get("hosts", [])), requests)

    def test_of_a_server_that_accepted_before(self):
        """Its clients are no hosts: what it waits for is their next request."""
        events = "".join(f'{t}.000000000 +0.900000000 7/7 net_receive fd=5 result=99 path="tcp 10.0.0.9:5000" flags=0x0 messages=1\n'
                         f'{t}.900200000 +0.000010000 7/7 net_send fd=5 result=99 path="tcp 10.0.0.9:5000" flags=0x0 messages=1\n' for t in range(1, 10))
        accepts = '0.500000000 +0.001000000 7/7 net_accept fd=4 result=5 peer="tcp 10.0.0.9:5000" local="tcp 10.0.0.1:80" path="tcp bound 10.0.0.1:80"\n'
        lost = "totals 7/7 net_accept calls=1 errors=0 bytes=0 ns=1000000\nlost 7 overwritten=1 no_space=0\n"
        for what, story in (("a window", accepts + events), ("lost", events + lost)):
            for options in ([], ["--since", "5.5s"]):
                with self.subTest(what=what, options=options):
                    self.assemble(self.process(7, "serves") + story)
                    (stage,) = self.report(*options)["stages"]
                    self.assertEqual(stage.get("hosts", []), [])

    def test_of_a_server_that_listened_before(self):
        """It accepts nobody itself, as the master of gunicorn: that it waits in select until its time runs out is no sleep."""
        story = '0.010000000 +0.000010000 7/7 net_setup fd=5 result=0 path="tcp bound 127.0.0.1:80" call=2 argument=10\n'
        for second in range(9):
            story += f'{second + 0.1:.9f} +0.900000000 7/7 wait_poll fd=3 result=0 path="pipe:[1]" timeout_ms=900 fds=4\n'
        self.assemble(self.process(7, "serves") + story)
        for options in (), ("--since", "4s"):
            time = self.report(*options)["stages"][0]["time"]
            self.assertEqual(time["sleep_s"], 0, options)
            self.assertGreater(time["idle_s"], 2, options)

    def test_of_a_parent_that_listened_after_the_fork(self):
        """Its socket is not the child's, which serves nobody, and sleeps: also where the window begins behind the parent's listen."""
        self.check_child_sleeps(LISTENS_AFTER_THE_FORK)

    def test_of_a_parent_that_listened_before_the_fork(self):
        """The child, which has set up a socket for UDP, does not listen at the parent's."""
        self.check_child_sleeps(LISTENS_BEFORE_THE_FORK)

    def check_child_sleeps(self, program):
        done = self.proftrace("run", "--no-report", "-o", "run", "--", sys.executable, "-c", program, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for options in (), ("--since", "1s"):
            rows = self.report(*options)["stages"][0]["threads"]
            self.assertGreater(max(row["sleep_s"] for row in rows), 0.7, (options, rows))
            self.assertLess(max(row["idle_s"] for row in rows), 0.1, (options, rows))

    def test_of_a_server_that_connected_before_it_executed_itself(self):
        """Its program of before has ended before the window, but its connection to a database goes on: select may wait for that."""
        before = self.process(7, "serves").replace("end=10.0", "end=1.0").replace("state=exited", "state=execed")
        now = self.process(7, "serves").replace("process 7", "process 7#2").replace("7/7", "7#2/7").replace("trace_id=7", "trace_id=17").replace("start=0.0", "start=1.0")
        story = before + now + (
            '0.100000000 +0.000010000 7/7 net_connect fd=8 result=0 peer="tcp 10.0.0.5:5432" local="tcp 10.0.0.9:42000"\n'
            '1.010000000 +0.000010000 7#2/7 net_accept fd=9 result=9 peer="tcp 10.0.0.7:4000" local="tcp 10.0.0.9:80" path="tcp bound 10.0.0.9:80"\n')
        for second in range(1, 9):
            story += f'{second + 0.1:.9f} +0.900000000 7#2/7 wait_poll fd=9 result=0 path="tcp 10.0.0.7:4000" timeout_ms=900 fds=2\n'
        self.assemble(story)
        for options in (), ("--since", "4s"):
            self.assertGreater(self.report(*options)["stages"][0]["time"]["sleep_s"], 2, options)

    def test_of_an_event_loop_whose_maker_connected(self):
        """Before it executed itself, or forked: it had ended before the window, and the loop of the other was idle there."""
        now = self.process(17, "serves").replace("start=0.0", "start=1.0")
        story = '0.100000000 +0.000010000 7/7 net_connect fd=8 result=0 peer="tcp 10.0.0.5:5432" local="tcp 10.0.0.9:42000"\n' + "".join(
            f'{second}.100000000 +0.900000000 NOW wait_poll fd=3 result=1 path="anon_inode:[eventpoll]" timeout_ms=-1 fds=1\n'
            f'{second + 1}.001000000 +0.000010000 NOW net_receive fd=8 result=99 path="tcp 10.0.0.5:5432" flags=0x0 messages=1\n' for second in range(1, 9))
        accepts = '0.200000000 +0.000010000 7/7 net_accept fd=9 result=9 peer="tcp 10.0.0.7:4000" local="tcp 10.0.0.9:80" path="tcp bound 10.0.0.9:80"\n'
        for state, child, name in (("execed", now.replace("process 17", "process 7#2").replace("17/17", "7#2/7"), "7#2/7"),
                                   ("exited", now.replace("trace_id=17", "trace_id=17 parent_trace_id=7"), "17/17")):
            before = self.process(7, "serves").replace("end=10.0", "end=1.0").replace("state=exited", f"state={state}")
            for options, also in (([], ""), (["--since", "4s"], ""), (["--since", "4s"], accepts)):
                with self.subTest(state=state, options=options, also=also):
                    self.assemble(before + child + story.replace("NOW", name) + also)
                    rows = self.report(*options)["stages"][0]["threads"]
                    self.assertGreater(max(row["network_s"] for row in rows), 2, rows)
                    self.assertLess(max(row["idle_s"] for row in rows), 0.1, rows)

    def test_of_a_connection_that_a_maker_made_to_a_server_here(self):
        """It had ended before the window: who has its connection waits for that server, as in the whole run."""
        server = self.process(9, "serves")
        now = self.process(17, "asks").replace("start=0.0", "start=1.0")
        story = '0.100000000 +0.000010000 7/7 net_connect fd=8 result=0 peer="tcp 127.0.0.1:5432" local="tcp 127.0.0.1:42000"\n' + "".join(
            f'{second}.100000000 +0.900000000 NOW net_receive fd=8 result=99 path="tcp 127.0.0.1:5432" flags=0x0 messages=1\n'
            f'{second}.990000000 +0.000010000 9/9 net_send fd=4 result=99 path="tcp 127.0.0.1:42000" flags=0x0 messages=1\n' for second in range(1, 9))
        for state, child, name in (("execed", now.replace("process 17", "process 7#2").replace("17/17", "7#2/7"), "7#2/7"),
                                   ("exited", now.replace("trace_id=17", "trace_id=17 parent_trace_id=7"), "17/17")):
            before = self.process(7, "makes").replace("end=10.0", "end=1.0").replace("state=exited", f"state={state}")
            for options in (), ("--since", "4s"):
                with self.subTest(state=state, options=options):
                    self.assemble(before + child + server + story.replace("NOW", name))
                    (asks,) = (stage for stage in self.report(*options)["stages"] if stage["stage"] == "asks")
                    self.assertEqual([row["waited_for"] for row in asks.get("waits", [])], ["serves"])

    def test_of_a_connection_that_was_handed_on_by_programs_that_executed_others(self):
        """As by `sh -c 'exec env X=1 python app.py'`: each of these programs was taken for one more process on the way to the one that connected."""
        images = [self.process(17, name).replace("ppid=1 ", "ppid=7 ").replace("trace_id=17", f"trace_id={20 + i}").replace("start=0.0", f"start=0.{1 + i}")
                  .replace("end=10.0", f"end={10 if last else 0}.{0 if last else 2 + i}").replace("state=exited", "state=exited" if last else "state=execed")
                  .replace("process 17", f"process 17#{1 + i}").replace("17/17", f"17#{1 + i}/17").replace("#1", "")
                  for i, (name, last) in enumerate((("sh", False), ("env", False), ("app", True)))]
        worker = self.process(27, "asks").replace("ppid=1 ", "ppid=17 ").replace("trace_id=27", "trace_id=27 parent_trace_id=22").replace("start=0.0", "start=0.5")
        processes = self.process(7, "makes") + "".join(images) + worker + self.process(9, "serves")
        connects = '0.050000000 +0.000010000 7/7 net_connect fd=8 result=0 peer="tcp {0}.1:5432" local="tcp {0}.1:42000"\n'
        here = connects.format("127.0.0") + "".join(
            f'{second}.100000000 +0.900000000 27/27 net_receive fd=8 result=99 path="tcp 127.0.0.1:5432" flags=0x0 messages=1\n'
            f'{second}.990000000 +0.000010000 9/9 net_send fd=4 result=99 path="tcp 127.0.0.1:42000" flags=0x0 messages=1\n' for second in range(1, 9))
        elsewhere = connects.format("10.0.0") + "".join(
            f'{second}.100000000 +0.900000000 27/27 wait_poll fd=3 result=1 path="anon_inode:[eventpoll]" timeout_ms=-1 fds=1\n'
            f'{second + 1}.001000000 +0.000010000 27/27 net_receive fd=8 result=99 path="tcp 10.0.0.1:5432" flags=0x0 messages=1\n' for second in range(1, 9))
        for options in (), ("--since", "4s"):
            for story, is_here in (here, True), (elsewhere, False):
                self.assemble(processes + story)
                (asks,) = (stage for stage in self.report(*options)["stages"] if stage["stage"] == "asks")
                self.assertEqual([row["waited_for"] for row in asks.get("waits", [])], ["serves"] if is_here else [], options)
                self.assertGreater(asks["time"]["network_s"], 2, (options, asks["time"]))

    def test_of_a_child_that_executed_its_program_anew(self):
        """With its parent's arguments: it is no copy that works for it, also where the copy that it was has ended before the window."""
        child = self.process(200, "serves").replace("ppid=1 ", "ppid=100 ")
        copy = child.replace("trace_id=200", "trace_id=200 parent_trace_id=100").replace("end=10.0", "end=1.0").replace("state=exited", "state=execed")
        now = child.replace("process 200", "process 200#2").replace("200/200", "200#2/200").replace("trace_id=200", "trace_id=201").replace("start=0.0", "start=1.0")
        self.assemble(self.process(100, "serves") + copy + now + "0.010000000 +0.010000000 100/100 proc_fork child_pid=200\n" + "".join(
            f"{second}.000200000 +0.890000000 200#2/200 wait_sleep clock=1 result=0 is_absolute=0 requested_ns=890000000\n" for second in range(1, 9)))
        for options in (), ("--since", "4s"):
            self.assertNotIn("worker_use", self.report(*options)["stages"][0], options)

    @classmethod
    def training(cls):
        """A loader with one worker, 200, which takes 0.9 s for a batch; a thread of the program, 101, takes it from there (pin_memory)."""
        worker = cls.process(200, "train").replace("ppid=1 ", "ppid=100 ").replace("trace_id=200", "trace_id=200 parent_trace_id=100").replace("start=0.0", "start=0.5")
        story = cls.process(100, "train") + "thread 100/101 slot=1 life=1 start=0.100000000\n" + worker + (
            '0.100000000 100/100 phase_begin phase=loader_start object=0x64010 name="Images"\n0.490000000 +0.010000000 100/100 proc_fork child_pid=200\n'
            "0.510000000 100/100 phase_end outcome=done amount=1 object=0x64030\n")
        for i in range(1, 10):
            story += (f"{i}.000000000 100/100 phase_begin phase=data_wait object=0x64030\n"
                      f"{i}.000200000 +0.890000000 200/200 wait_sleep clock=1 result=0 is_absolute=0 requested_ns=890000000\n"
                      f'{i}.000100000 +0.890500000 100/101 wait_poll fd=5 result=1 path="pipe:[7]" timeout_ms=60000 fds=1\n'
                      f"{i}.000200000 +0.891000000 100/100 lock_cond error=0 addr=0x7f0000002000 mutex=0x7f0000002040\n"
                      f'{i}.890300000 +0.000100000 200/200 io_write fd=8 result=400 path="pipe:[7]" requested_bytes=400\n'
                      f'{i}.890700000 +0.000100000 100/101 io_read fd=5 result=400 path="pipe:[7]" requested_bytes=400\n'
                      f"{i}.890900000 100/101 lock_wake waiters=1 call=2 addr=0x7f0000002000\n"
                      f"{i}.900000000 100/100 phase_end outcome=done amount=16 object=0x0\n"
                      f'{i}.910000000 100/100 phase_begin phase=forward object=0x1 name="Net"\n{i}.930000000 100/100 phase_end outcome=done amount=0 object=0x0\n'
                      f"{i}.930000000 100/100 phase_begin phase=backward object=0x0\n{i}.960000000 100/100 phase_end outcome=done amount=0 object=0x0\n"
                      f'{i}.960000000 100/100 phase_begin phase=optimizer_step object=0x2 name="SGD"\n{i}.990000000 100/100 phase_end outcome=done amount=0 object=0x0\n')
        return story

    def findings(self, *options):
        return {finding["rule"]: finding for finding in self.report(*options)["findings"]}

    def test_of_a_loader_that_was_started_before(self):
        """That it has workers is known all the same, as the process reads no sample itself; also where a ring has lost the start."""
        story = self.training()
        start = re.compile(r"^\S+ 100/100 phase_(begin phase=loader_start|end outcome=done amount=1 object=0x64030).*\n", re.M)
        self.assertEqual(len(start.findall(story)), 2)
        lost = start.sub("", story) + "lost 100 overwritten=2 no_space=0\n"
        here = re.sub(r"^\S+ \+\S+ (100/100 lock_cond|100/101|200/200) .*\n", "", re.sub(
            r"^(\S+) 100/100 phase_end outcome=done amount=16 object=0x0\n",
            r"\1 100/100 phase_begin phase=worker_fetch object=0x0\n\1 100/100 phase_end outcome=done amount=16 object=0x0\n\g<0>", lost, flags=re.M), flags=re.M)
        for what, text, options in (("all", story, []), ("a window", story, ["--since", "9.4s"]), ("lost", lost, []), ("in this process", here, [])):
            with self.subTest(what=what):
                self.assemble(text)
                found = self.findings(*options)
                if what == "in this process":
                    self.assertEqual(found["steps_wait_for_data"]["evidence"]["workers"], 0)
                else:
                    self.assertIn("too_few_workers", found)
                    self.assertNotIn("steps_wait_for_data", found)

    def test_of_a_loader_that_is_started_again(self):
        """The start of the first epoch is before the window, or overwritten; that of the second one tells how many workers there are, which
        have no trace."""
        first, second = re.sub(r"^(process 200|thread 200/200|\S+ \+\S+ 200/200) .*\n", "", self.training(), flags=re.M).split("5.000000000 100/100 phase_begin", 1)
        story = (first + '4.991000000 100/100 phase_begin phase=loader_start object=0x64010 name="Images"\n'
                 "4.995000000 100/100 phase_end outcome=done amount=1 object=0x64040\n"
                 "5.000000000 100/100 phase_begin" + second.replace("object=0x64030", "object=0x64040"))
        start = re.compile(r"^0\.\S+ 100/100 phase_(begin phase=loader_start|end outcome=done amount=1 object=0x64030).*\n", re.M)
        self.assertEqual(len(start.findall(story)), 2)
        lost = start.sub("", story) + "lost 100 overwritten=2 no_space=0\n"
        for what, text, options in (("all", story, []), ("a window", story, ["--since", "9.4s"]), ("lost", lost, [])):
            with self.subTest(what=what):
                self.assemble(text)
                self.assertEqual(self.findings(*options)["steps_wait_for_data"]["evidence"]["workers"], 1)

    def test_of_threads_that_began_before(self):
        """The main thread joins two that began before the window, and write all the time: it waits for that, as in the whole run."""
        story = self.process(7, "writes") + "".join(
            f"thread 7/{tid} slot={tid - 7} life=1 start=0.050000000\n0.050000000 7/{tid} thread_start tid={tid} pthread=0x7f000000{tid}000\n" for tid in (8, 9))
        for tid, begin, end in ((8, 1, 6), (9, 6, 10)):
            story += "".join(f'{t / 10:.9f} +0.099990000 7/{tid} io_pwrite fd=6 result=33554432 path="/out/{tid}" offset_bytes={t << 25}\n' for t in range(begin * 10, end * 10 - 2))
            story += f"{begin}.000000000 +{end - begin - 0.01:.9f} 7/7 wait_thread result=0 pthread=0x7f000000{tid}000\n"
        self.assemble(story)
        for options in ([], ["--since", "5.5s"]):
            with self.subTest(options=options):
                (stage,) = self.report(*options)["stages"]
                self.assertGreater(stage["time"]["file_write_s"], 3.7)  # while the first one writes, the other may do so, too
                self.assertIn("file_writing", self.findings(*options))

    def cpu_s(self, *options):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(self.proftrace("report", "run", "--format", "json", *options).returncode, 0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_of_thousands_of_threads_that_had_ended(self):
        """What is read before a window is no more than what the whole report reads: each of these threads was looked for among all of them."""
        n = 2000
        lives, waits, starts = self.process(7, "serves"), "", ""
        for life in range(1, n + 1):
            at = 8.5 * life / n
            lives += f"thread 7/{life + 7} slot=1 life={life} start={at:.9f}\n"
            starts += f"{at:.9f} 7/{life + 7} thread_start tid={life + 7} pthread=0x7f0000001000\n"
            waits += (f'{at + 0.0001:.9f} +0.000010000 7/{life + 7} io_write fd=6 result=10 path="/out" requested_bytes=10\n'
                      f"{at:.9f} +0.000500000 7/7 wait_thread result=0 pthread=0x7f0000001000\n")
        lost = "".join(f"totals 7/{life + 7} thread_start calls=1 errors=0 bytes=0 ns=0\n" for life in range(1, n + 1)) + f"lost 7 overwritten={n} no_space=0\n"
        for what, more in (("all", starts), ("lost", lost)):
            with self.subTest(what=what):
                self.assemble(lives + waits + more)
                self.assertLess(self.cpu_s("--since", "1s"), 4 * self.cpu_s() + 0.3)  # it was a hundred times as much

    def test_of_more_connections_than_are_read(self):
        """A thread for each client that had ended before the window: of those that were not read the counts tell that it accepts, and a note says so."""
        story, n = self.process(7, "serves"), 3000
        for life in range(1, n + 1):
            at = 8.5 * life / n
            story += (f"thread 7/{life + 7} slot=1 life={life} start={at:.9f}\n"
                      f'{at:.9f} +0.000010000 7/{life + 7} net_accept fd=4 result=5 peer="tcp 10.0.0.9:{life}" local="tcp 10.0.0.1:80" path="tcp bound 10.0.0.1:80"\n')
        story += "".join(f'9.{t}{at}0000000 +0.010000000 7/7 net_receive fd=5 result=99 path="tcp {peer}" flags=0x0 messages=1\n'
                         f'9.{t}{at}9000000 +0.000010000 7/7 net_send fd=5 result=99 path="tcp {peer}" flags=0x0 messages=1\n'
                         for t in range(1, 9) for at, peer in enumerate(("10.0.0.9:1", f"10.0.0.9:{n}", "10.0.0.5:5432")))
        for connects, hosts in (("", []), ('8.000000000 +0.001000000 7/7 net_connect fd=5 result=0 peer="tcp 10.0.0.5:5432" local="tcp 10.0.0.1:41000"\n', ["tcp 10.0.0.5:5432"])):
            with self.subTest(hosts=hosts):  # a thread that goes on is read before those that have ended
                self.check_read_in_part(story + connects, hosts)
        self.assemble(story.split("thread 7/9 ")[0])
        self.assertFalse([note for note in self.report("--since", "1s")["trace_quality"]["notes"] if "in part" in note])

    def check_read_in_part(self, story, hosts):
        self.assemble(story)
        report = self.report("--since", "1s")
        self.assertEqual([row["host"] for row in report["stages"][0].get("hosts", [])], hosts)
        part = [note for note in report["trace_quality"]["notes"] if note.startswith("what was before the window was read in part")]
        self.assertEqual(len(part), 1)

    def test_exports(self):
        done = self.proftrace("run", "--no-report", "-o", "run", "--", sys.executable, "-c", PROGRAM, "2.5", text=True)
        log = json.loads(done.stdout)
        self.assertEqual(self.proftrace("export", "run", "--to", "openmetrics", "--since", "1.5s", "-o", "figures").returncode, 0)
        with open(os.path.join(self.folder, "figures"), encoding="utf-8") as file:
            text = file.read()
        self.assertRegex(text, rf'proftrace_stage_calls{{stage="\S+",call="write"}} {log["writes"] + 1}\n')
        self.assertIn("proftrace_run_duration_seconds 1.5\n", text)
        self.assertEqual(self.proftrace("export", "run", "--to", "csv", "--since", "1.5s", "-o", "events.csv").returncode, 0)
        with open(os.path.join(self.folder, "events.csv"), encoding="utf-8") as file:
            writes = [line for line in file if ",write," in line or "io_write" in line]
        self.assertEqual(len(writes), log["writes"] + 1)
        self.assertEqual(self.proftrace("export", "run", "--to", "csv", "--since", "1s", "--from", "1s", "-o", "-").returncode, 2)


if __name__ == "__main__":
    unittest.main()
