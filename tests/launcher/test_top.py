# SPDX-License-Identifier: MIT
"""`proftrace top`: its totals are the report's while a run goes on and after, its rates tell who works, and the programs do not notice."""
import fcntl
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import termios
import time
import unittest

from launcher_case import LIBRARY, PROFTRACE, LauncherCase, clean_environment, descendants_of

WAITS = """
import os, sys
file = os.open("/etc/passwd", os.O_RDONLY)
for i in range(1000):
    os.pread(file, 10, 0)
out = os.open("out", os.O_WRONLY | os.O_CREAT)
for i in range(50):
    os.write(out, b"x" * 7)
print("ready", flush=True)
sys.stdin.readline()
"""
READS = """
import os
file = os.open("/etc/passwd", os.O_RDONLY)
print("ready", flush=True)
while True:
    os.pread(file, 10, 0)
"""
# What it does when it is told to, after a rest that a window can leave out.
ON_DEMAND = """
import os, signal, threading, time
signal.signal(signal.SIGUSR1, lambda *_: None)
file = os.open("/etc/passwd", os.O_RDONLY)
out = os.open("out", os.O_WRONLY | os.O_CREAT)
for i in range(500):
    os.pread(file, 10, 0); os.write(out, b"before")
print("ready", flush=True)
signal.pause()
lock = threading.Lock(); lock.acquire()
threading.Timer(0.2, lock.release).start()
lock.acquire()
for i in range(40):
    os.pread(file, 50, 0)
    os.write(out, b"z" * 9)
    time.sleep(0.01)
signal.pause()
"""
TRAINS = """
import time, proftrace
print("ready", flush=True)
i = 0
while True:
    proftrace.step(i); i += 1
    with proftrace.range("forward"): time.sleep(0.05)
"""
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "preload", "python")
UNMARKED = """
import sys, torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(5):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
print("ready", flush=True)
sys.stdin.readline()
"""
HAS_TORCH = subprocess.run(["/usr/bin/python3", "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode == 0
SPINS = "print('ready', flush=True)\nwhile True: pass"


class Top(LauncherCase):
    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "run"), 0o700)

    def start(self, program, *before, **more):
        environment = clean_environment(LD_PRELOAD=LIBRARY, PROFTRACE_SESSION=os.path.join(self.folder, "run"), **more)
        process = subprocess.Popen([*before, "/usr/bin/python3", "-c", program], cwd=self.folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(self.end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def top(self, run="run", *options, **more):
        done = self.proftrace("top", run, "--json", "-i", "100ms", *options, **more)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        found = json.loads(done.stdout)
        return found, {process["pid"]: process for process in found["processes"]}

    def wait_for_rest(self, top):
        """Until it has looked for the first time: then it sleeps, and does nothing else."""
        def switches():
            with open(f"/proc/{top.pid}/status", encoding="ascii") as file:
                return [line for line in file if line.startswith(("State:\tS", "voluntary_ctxt_switches"))]

        def rests():
            before = switches()
            time.sleep(0.05)
            return len(before) == 2 and before == switches()
        self.wait_for(rests)

    def check_totals(self, of_top):
        report = json.loads(self.proftrace("report", "run", "--format", "json").stdout)
        for process in report["processes"]:
            row = of_top[process["pid"]]
            ours = [row[key] for key in ("reads", "read_bytes", "writes", "written_bytes", "allocations", "allocated_bytes", "events")]
            io, heap = process["io"], process["heap"]
            self.assertEqual(ours, [io["read"]["calls"], io["read"]["bytes"], io["write"]["calls"], io["write"]["bytes"], heap["allocs"], heap["bytes"], process["events"]["recorded"]])

    def test_totals_of_a_run_that_goes_on_and_of_one_that_has_ended(self):
        process = self.start(WAITS)
        found, rows = self.top()
        self.assertEqual((found["running"], rows[process.pid]["state"]), (1, "running"))
        self.assertGreaterEqual(rows[process.pid]["reads"], 1000)
        self.assertGreaterEqual(rows[process.pid]["written_bytes"], 350)
        self.check_totals(rows)
        process.communicate(b"\n")
        found, rows = self.top()
        row = rows[process.pid]
        self.assertEqual((found["running"], found["window_s"], row["state"]), (0, 0, "exit 0"))
        self.assertEqual([(row[key], row[key + "_reason"]) for key in ("cpu_percent", "rss_bytes", "read_bytes_per_s", "steps_per_s")], [(None, "it has ended")] * 4)
        self.check_totals(rows)

    def test_what_is_not_recorded_is_not_none(self):
        process = self.start(WAITS, PROFTRACE_IO="0", PROFTRACE_LOCKS="0")
        row = self.top()[1][process.pid]
        for key in ("reads", "read_bytes", "read_bytes_per_s", "writes", "written_bytes", "reading_percent", "writing_percent", "files_percent", "children_percent"):
            self.assertEqual((row[key], row[key + "_reason"]), (None, "not recorded: PROFTRACE_IO was off"), key)
        self.assertEqual((row["lock_percent"], row["lock_percent_reason"]), (None, "not recorded: PROFTRACE_LOCKS was off"))
        self.assertEqual((row["sleeping_percent"], row["network_percent"]), (0, 0))

    def test_rates_tell_who_works(self):
        waits, reads, spins = self.start(WAITS), self.start(READS), self.start(SPINS)
        found, rows = self.top("run", "-i", "1s")
        self.assertEqual((found["running"], len(rows)), (3, 3))
        self.assertEqual([rows[waits.pid][key] for key in ("read_bytes_per_s", "written_bytes_per_s", "allocations_per_s", "cpu_percent")], [0, 0, 0, 0])
        self.assertGreater(rows[reads.pid]["read_bytes_per_s"], 1000)
        self.assertEqual(rows[spins.pid]["read_bytes_per_s"], 0)
        self.assertGreater(rows[spins.pid]["cpu_percent"], 3)
        self.assertGreater(rows[spins.pid]["rss_bytes"], 1 << 20)

    def test_by_a_pid_from_another_folder(self):
        process = self.start(WAITS)
        found, rows = self.top(str(process.pid), cwd="/")
        self.assertEqual((found["run"], list(rows)), (os.path.join(self.folder, "run"), [process.pid]))
        done = self.proftrace("top", str(os.getpid()), "--once")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is not traced", done.stderr)

    def test_once_is_a_page_of_text(self):
        process = self.start(WAITS)
        done = self.proftrace("top", "run", "--once", "-i", "1ms")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout.decode(), rf"\Arun: \d+ s, 1 of 1 processes run\n(?s:.*)\n *{process.pid}  python3 +")
        self.assertNotIn(b"\x1b", done.stdout)

    def test_it_shows_the_end_and_ends(self):
        process = self.start(WAITS)
        shown = subprocess.Popen([shutil.which("proftrace", path=os.path.dirname(LIBRARY)), "top", "run", "-i", "20ms"], cwd=self.folder, env=clean_environment(), stdout=subprocess.PIPE)
        self.addCleanup(shown.stdout.close)
        self.addCleanup(self.end, shown)
        self.assertIn(b"1 of 1 processes run", shown.stdout.readline())
        process.communicate(b"\n")
        pages = shown.communicate(timeout=60)[0]
        self.assertEqual(shown.returncode, 0)
        self.assertIn(b"0 of 1 processes run", pages)

    def test_it_stays_with_the_run_that_it_began_with(self):
        """A second one that begins meanwhile is the latest, and was shown instead, to its end."""
        first, name = self.start_launched()
        top = subprocess.Popen([PROFTRACE, "top", "-i", "20ms"], cwd=self.folder, env=clean_environment(), stdout=subprocess.PIPE)
        self.addCleanup(top.stdout.close)
        self.addCleanup(self.end, top)
        self.assertRegex(top.stdout.readline(), name + rb": .* 1 of 1 processes run")
        second, other = self.start_launched()
        second.communicate(b"\n")
        time.sleep(0.3)
        self.assertIsNone(top.poll(), "it went over to the second, and ended with it")
        first.communicate(b"\n")
        pages = top.communicate(timeout=60)[0]
        self.assertEqual(top.returncode, 0)
        self.assertNotIn(other, pages)
        self.assertRegex(pages, name + rb": .* 0 of 1 processes run")

    def start_launched(self):
        process = subprocess.Popen([PROFTRACE, "run", "--no-report", "--", "/usr/bin/python3", "-c", WAITS], cwd=self.folder, env=clean_environment(),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(self.end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process, os.path.basename(os.path.realpath(os.path.join(self.folder, "proftrace.data/latest"))).encode()

    def test_a_window_is_that_of_report_since(self):
        process = self.start(ON_DEMAND)
        time.sleep(4)
        top = subprocess.Popen([PROFTRACE, "top", "run", "--json", "-i", "4s"], cwd=self.folder, env=clean_environment(), stdout=subprocess.PIPE)
        self.addCleanup(top.stdout.close)
        self.wait_for_rest(top)
        process.send_signal(signal.SIGUSR1)
        found = json.loads(top.communicate(timeout=60)[0])
        (row,) = found["processes"]
        report = json.loads(self.proftrace("report", "run", "--since", "7s", "--format", "json").stdout)
        io, calls = report["processes"][0]["io"], {row["call"]: row for row in report["stages"][0]["calls"]}
        self.assertEqual((io["read"]["bytes"], io["write"]["bytes"]), (2000, 360))
        window_s = found["window_s"]
        self.assertAlmostEqual(row["read_bytes_per_s"] * window_s, io["read"]["bytes"], delta=0.01)
        self.assertAlmostEqual(row["written_bytes_per_s"] * window_s, io["write"]["bytes"], delta=0.01)
        for key, ours in ("sleeping_percent", ("wait_sleep",)), ("reading_percent", ("read", "pread")), ("writing_percent", ("write",)):
            self.assertTrue(set(ours) & set(calls), list(calls))
            seconds = sum(calls[call]["total_s"] for call in ours if call in calls)
            self.assertAlmostEqual(row[key] / 100 * window_s, seconds, delta=2e-5, msg=key)
        self.assertGreater(row["lock_percent"] / 100 * window_s, 0.15)

    def test_what_it_is_at(self):
        process = self.start(TRAINS, PYTHONPATH=PACKAGE)
        time.sleep(0.5)
        for _ in range(5):  # between two steps it is in none
            _, rows = self.top("run", "-i", "1s")
            row = rows[process.pid]
            if row["phase"] == "forward":
                break
        self.assertEqual((row["phase"], row["data_wait_percent"]), ("forward", 0))
        self.assertGreater(row["steps_per_s"], 5)
        self.assertEqual(row["open_files"], len(os.listdir(f"/proc/{process.pid}/fd")))
        self.assertGreater(row["live_blocks"], 10)
        self.assertTrue(1 << 20 < row["anonymous_bytes"] < row["rss_bytes"])
        self.assertEqual((row["gpu_percent"], row["gpu_percent_reason"]), (None, "no launcher samples it"))

    def test_a_row_for_each_stage_and_rank(self):
        ranks = [self.start(READS, PROFTRACE_STAGE="train", RANK=str(rank // 2), WORLD_SIZE="2") for rank in range(4)]
        self.start(WAITS, PROFTRACE_STAGE="prepare")
        found, rows = self.top("run", "-i", "300ms")
        stages = {row["stage"]: row for row in found["stages"]}
        self.assertEqual({name: row["processes"] for name, row in stages.items()}, {"train": 4, "prepare": 1})
        self.assertAlmostEqual(stages["train"]["read_bytes_per_s"], sum(rows[rank.pid]["read_bytes_per_s"] for rank in ranks), delta=1)
        self.assertEqual([(row["rank"], row["processes"]) for row in sorted(found["ranks"], key=lambda row: row["rank"])], [(0, 2), (1, 2)])

    def test_a_row_of_several_ranks_is_none_of_them(self):
        """Of three, the last was that of all."""
        for rank in range(3):
            self.start(WAITS, PROFTRACE_STAGE="train", RANK=str(rank), WORLD_SIZE="3")
        found, _ = self.top()
        (row,) = found["stages"]
        self.assertEqual((row["processes"], row["rank"], row["rank_reason"]), (3, None, "several"))

    def test_counts_of_what_has_ended_stay(self):
        """Workers end with each epoch: the totals of their stage and rank do not fall."""
        of = {"PROFTRACE_STAGE": "train", "RANK": "0", "WORLD_SIZE": "1"}
        ended, prepared = self.start(WAITS, **of), self.start(WAITS, PROFTRACE_STAGE="prepare")
        for process in ended, prepared:
            process.communicate(b"\n")
        running = self.start(WAITS, **of)
        found, rows = self.top()
        self.assertEqual(list(rows), [running.pid])
        report = json.loads(self.proftrace("report", "run", "--format", "json").stdout)
        io, heap = ([process[key] for process in report["processes"] if process["stage"] == "train"] for key in ("io", "heap"))
        self.assertEqual([row["stage"] for row in found["stages"]], ["train"], "of which something runs")
        for row in *found["stages"], *found["ranks"]:
            self.assertEqual((row["reads"], row["written_bytes"]), (sum(one["read"]["calls"] for one in io), sum(one["write"]["bytes"] for one in io)))
            self.assertEqual(row["allocations"], sum(one["allocs"] for one in heap))
            self.assertEqual((row["processes"], row["read_bytes_per_s"], row["rss_bytes"], row["live_blocks"]), (1, 0, rows[running.pid]["rss_bytes"], rows[running.pid]["live_blocks"]))

    def test_cpu_of_what_executes_another_program(self):
        """The kernel counts on: what the process used before the first look is none of the window."""
        go = os.path.join(self.folder, "go")
        waits = f"while not os.path.exists({go!r}): time.sleep(0.01)\n"
        execs = "os.execv('/usr/bin/python3', ['python3', '-c', 'import time; time.sleep(60)'])"
        uses = "import os, sys, time\nwhile time.process_time() < 2: pass\n"
        process = self.start(f"{uses}print('ready', flush=True)\n{waits}{execs}")
        # Another begins to be traced between the looks, and has used as much.
        untraced = subprocess.Popen(["/usr/bin/python3", "-c", f"{uses}print('ready', flush=True)\n{waits}os.environ.update(LD_PRELOAD={LIBRARY!r}, PROFTRACE_SESSION={self.folder + '/run'!r})\n{execs}"],
                                    env=clean_environment(), stdout=subprocess.PIPE)
        self.addCleanup(untraced.stdout.close)
        self.addCleanup(self.end, untraced)
        self.assertEqual(untraced.stdout.readline(), b"ready\n")
        top = subprocess.Popen([PROFTRACE, "top", "run", "--json", "-i", "4s"], cwd=self.folder, env=clean_environment(), stdout=subprocess.PIPE)
        self.addCleanup(top.stdout.close)
        self.wait_for_rest(top)
        with open(go, "w", encoding="ascii"):
            pass
        found = json.loads(top.communicate(timeout=60)[0])
        rows = {row["pid"]: row for row in found["processes"]}
        self.assertLess(rows[process.pid]["cpu_percent"] / 100 * found["window_s"], 1, "it used 2 s before, and the start of Python since")
        self.assertEqual((rows[untraced.pid]["cpu_percent"], rows[untraced.pid]["cpu_percent_reason"]), (None, "it was not traced at the look before"))

    def test_steps_of_ranks(self):
        """Ranks make their steps together, as the report has it."""
        marks = "import proftrace, sys\nfor i in range(10): proftrace.step(i)\nprint('ready', flush=True)\nsys.stdin.readline()"
        ranks = [self.start(marks, PROFTRACE_STAGE="train", PYTHONPATH=PACKAGE, RANK=str(rank), WORLD_SIZE="3") for rank in range(3)]
        self.start(WAITS, PROFTRACE_STAGE="train")
        found, rows = self.top()
        self.assertEqual([rows[rank.pid]["steps"] for rank in ranks], [10] * 3)
        self.assertEqual([(row["steps"], row["steps_per_s"]) for row in found["stages"]], [(10, 0)])
        self.assertEqual([row["steps"] for row in found["ranks"]], [10] * 3)
        report = json.loads(self.proftrace("report", "run", "--format", "json").stdout)
        self.assertEqual(report["stages"][0]["training"]["steps"], 10)

    @unittest.skipUnless(HAS_TORCH, "python3-torch is not installed")
    def test_steps_that_are_not_marked_are_unknown(self):
        process = self.start(UNMARKED, PROFTRACE_STAGE="train")
        self.start(WAITS, PROFTRACE_STAGE="train")  # does nothing of the kind, and does not make them known
        found, rows = self.top()
        for row in rows[process.pid], *found["stages"]:
            self.assertEqual([(row[key], row[key + "_reason"]) for key in ("steps", "steps_per_s")], [(None, "only steps that are marked have totals")] * 2)

    # ---- a terminal ----

    def on_terminal(self, *options, rows=12, columns=90, run="run"):
        """(pid, terminal, how it was before): `top` with a terminal of its own, of which this is the other end."""
        gate, opener = os.pipe()
        pid, terminal = pty.fork()
        if pid == 0:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
            os.close(opener)
            os.read(gate, 1)  # until the terminal is as it should be, and was looked at
            os.chdir(self.folder)
            os.execve(PROFTRACE, [PROFTRACE, "top", run, "-i", "200ms", *options], clean_environment(TERM="xterm"))
        self.addCleanup(os.close, terminal)
        self.resize(terminal, rows, columns)
        before = termios.tcgetattr(terminal)
        os.close(gate)
        os.close(opener)
        return pid, terminal, before

    def resize(self, terminal, rows, columns):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, terminal, wanted, seconds=30):
        text, until = b"", time.monotonic() + seconds
        while time.monotonic() < until and not re.search(wanted, text):
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    text += os.read(terminal, 65536)
                except OSError:
                    break
        self.assertRegex(text, wanted)
        return text

    def end_of(self, pid, terminal, before):
        """How it ended; the terminal must be as it was."""
        text, until = b"", time.monotonic() + 30
        while time.monotonic() < until:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    text += os.read(terminal, 65536)
                except OSError:
                    pass
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
        self.assertTrue(done)
        while select.select([terminal], [], [], 0)[0]:  # what it wrote last
            try:
                last = os.read(terminal, 65536)
            except OSError:
                break
            if not last:
                break
            text += last
        self.assertIn(b"\x1b[?25h\x1b[?1049l", text)
        try:
            self.assertEqual(termios.tcgetattr(terminal), before)
        except termios.error:
            pass  # nobody has the other end any more
        return os.waitstatus_to_exitcode(status)

    def test_keys_and_size(self):
        for _ in range(12):
            self.start(WAITS, PROFTRACE_STAGE="many")
        keep = os.open("/dev/null", os.O_RDONLY)
        self.addCleanup(os.close, keep)
        pid, terminal, before = self.on_terminal()
        page = self.read_until(terminal, rb"q quit  p pause").split(b"\x1b[H")[-1]
        self.assertIn(b"12 of 12 processes run", page)
        self.assertLessEqual(page.count(b"\n"), 11, "cut to the height, and the keys in the last line")
        self.assertRegex(page, rb"\x1b\[12;1Hq quit")
        self.resize(terminal, 30, 60)
        page = self.read_until(terminal, rb"\x1b\[30;1Hq quit").split(b"\x1b[H")[-1]
        self.assertEqual(page.count(b"python3"), 12)
        self.assertTrue(all(len(re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", line).strip()) <= 60 for line in page.split(b"\n")[:-1]))
        os.write(terminal, b"t")
        self.read_until(terminal, rb"Stages")
        os.write(terminal, b"s")
        self.read_until(terminal, rb"by CPU")
        os.write(terminal, b"p")
        self.read_until(terminal, rb"paused")
        os.write(terminal, b"h")
        self.read_until(terminal, rb"100 % is one thread")
        self.assertFalse(termios.tcgetattr(terminal)[3] & termios.ICANON)
        os.write(terminal, b"q")
        self.assertEqual(self.end_of(pid, terminal, before), 0)

    def test_no_line_is_wider_than_the_screen(self):
        """It would take two lines, and the first one would scroll away; and what erases behind a full line erases its last character."""
        self.start(WAITS)
        name = "a_name_of_forty_characters_for_this_run_"
        os.rename(os.path.join(self.folder, "run"), os.path.join(self.folder, name))
        pid, terminal, before = self.on_terminal(rows=24, columns=80, run=name)
        self.read_until(terminal, rb"q quit")
        os.write(terminal, b"p")
        page = self.read_until(terminal, rb"paused(?s:.*)\x1b\[24;1Hq quit").split(b"\x1b[H")[-1]
        os.write(terminal, b"h")
        help_page = self.read_until(terminal, rb"Locks and Sleep(?s:.*)\x1b\[24;1Hq quit").split(b"\x1b[H")[-1]
        for line in (page + help_page).split(b"\r\n"):
            text = line.partition(b"\x1b[24;1H")[0]
            self.assertNotRegex(text, rb"[^\x1b].*\x1b\[K$")
            self.assertLessEqual(len(re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", text)), 80, text)
        os.write(terminal, b"q")
        self.assertEqual(self.end_of(pid, terminal, before), 0)

    def test_signals_give_the_terminal_back(self):
        self.start(WAITS)
        ends = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGXCPU, signal.SIGPIPE, signal.SIGVTALRM,
                signal.SIGIO, signal.SIGPWR, signal.SIGRTMIN + 3, signal.SIGSEGV, signal.SIGABRT}
        for number in sorted(ends):
            with self.subTest(number):
                pid, terminal, before = self.on_terminal()
                self.read_until(terminal, rb"q quit")
                os.kill(pid, number)
                self.assertEqual(self.end_of(pid, terminal, before), -number)

    def test_out_of_memory_gives_the_terminal_back(self):
        self.start(WAITS)
        pid, terminal, before = self.on_terminal()
        self.read_until(terminal, rb"q quit")
        resource.prlimit(pid, resource.RLIMIT_AS, (1 << 20, 1 << 20))
        self.assertIn(self.end_of(pid, terminal, before), (3, 125))

    def test_signals_that_are_ignored_stay_so(self):
        self.start(WAITS)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGHUP, signal.SIG_DFL)
        pid, terminal, before = self.on_terminal()
        self.read_until(terminal, rb"q quit")
        os.kill(pid, signal.SIGHUP)
        self.read_until(terminal, rb"q quit")
        os.write(terminal, b"q")
        self.assertEqual(self.end_of(pid, terminal, before), 0)

    def test_its_end_is_shown_on_the_screen_as_it_was(self):
        process = self.start(WAITS)
        pid, terminal, before = self.on_terminal()
        self.read_until(terminal, rb"q quit")
        process.communicate(b"\n")
        text = self.read_until(terminal, rb"\x1b\[\?1049l(?s:.*)0 of 1 processes run(?s:.*)exit 0")
        self.assertNotIn(b"q quit", text.split(b"\x1b[?1049l")[-1])
        os.waitpid(pid, 0)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_the_program_makes_no_system_call_for_it(self):
        log = os.path.join(self.folder, "calls")
        strace = self.start(SPINS, "strace", "-f", "-o", log)
        for pid in descendants_of(strace.pid):  # it would outlive strace, and nobody reads its output
            self.addCleanup(os.kill, pid, signal.SIGKILL)
        before, until = -1, time.monotonic() + 30
        while before != os.path.getsize(log) and time.monotonic() < until:
            before = os.path.getsize(log)
            time.sleep(0.3)
        found, _ = self.top()
        self.assertEqual(found["running"], 2, "strace itself, and the program")
        self.assertEqual(os.path.getsize(log), before)


if __name__ == "__main__":
    unittest.main()
