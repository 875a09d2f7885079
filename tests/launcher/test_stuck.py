# SPDX-License-Identifier: MIT
"""A command that does not go on: its stacks are kept before it is ended for its timeout, and when nothing has moved for --stall seconds."""
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest

from launcher_case import PROFTRACE, LauncherCase, clean_environment

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "preload", "python")
HAS_TORCH = subprocess.run(["/usr/bin/python3", "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode == 0
DEADLOCK = """
import threading, time
a, b, both = threading.Lock(), threading.Lock(), threading.Barrier(2)
def first():
    with a:
        both.wait()
        with b: pass
def second():
    with b:
        both.wait()
        with a: pass
threads = [threading.Thread(target=f, daemon=True) for f in (first, second)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
PAUSES = """
import time
def rest(): time.sleep(2.5)
def work():
    end = time.monotonic() + 0.7
    while time.monotonic() < end: pass
rest(); work(); rest()
print("done")
"""


STEPS = """
import time, proftrace
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end: pass
for i in range(20):
    spin(0.05)
    proftrace.step(i)
spin(3)
"""


# A training that marks nothing, as nearly all are; where it spins after ten steps is said by its argument: for longer than three times
# any pause before, however busy the machine is.
TRAINS = """
import sys, time; began = time.monotonic(); import torch
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end: pass
class Passes(torch.autograd.Function):
    @staticmethod
    def forward(context, x): return x * 1
    @staticmethod
    def backward(context, gradient):
        if step == 10 and sys.argv[1] == "backward": spin(4 * (time.monotonic() - began) + 2)
        return gradient
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)
    def forward(self, x):
        if not self.training and sys.argv[1] == "evaluation": spin(8)
        return Passes.apply(self.linear(x))
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(11):
    loss = model(torch.ones(2, 4)).sum()
    loss.backward()
    optimizer.step()
    spin(0.05)
if sys.argv[1] == "scores": spin(8)
if sys.argv[1] == "validation":
    model.eval()
    for _ in range(80):
        model(torch.ones(2, 4))
        spin(0.1)
model.eval()(torch.ones(2, 4))
"""


class Stuck(LauncherCase):
    def path(self, name):
        return os.path.join(self.folder, name)

    def write_program(self, text):
        with open(self.path("program.py"), "w", encoding="utf-8") as file:
            file.write(text)

    def run_command(self, *command, **environment):
        return self.proftrace(*command, environment=environment, text=True)

    def stacks(self, run):
        with open(f"{run}/stacks.txt", encoding="utf-8") as file:
            return file.read()

    def report(self, run):
        return json.loads(self.run_command("report", "--format", "json", run).stdout)

    def test_a_stage_that_runs_into_its_timeout(self):
        self.write_program(DEADLOCK)
        with open(self.path("config.json"), "w", encoding="utf-8") as file:
            json.dump({"profile": {"stages": [{"stage": "train", "cmd": ["sh", "-c", f"{sys.executable} program.py; true"], "timeout_s": 5}]}}, file)
        done = self.run_command("pipeline", "--config", "config.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        run = os.path.realpath(self.path("proftrace.data/latest"))
        stacks = self.stacks(run)
        self.assertRegex(stacks, r"^== \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, stage train: still running after 5\.00 s\n")
        for function, line in ("first", 7), ("second", 11), ("<module>", 14):
            self.assertRegex(stacks, rf"{function}  \S+/program\.py:{line}  \(Python\)")
        self.assertEqual(stat.S_IMODE(os.stat(f"{run}/stacks.txt").st_mode), 0o600)
        # The report says it where one looks first: why the stage failed, and what to look at.
        report = self.report(run)
        said = (r"deadlock: these threads wait only for one another: \d+ in <module> \(program\.py:14\) wants a thread to end: waits for a semaphore at \S+; "
                r"\d+ in first \(program\.py:7\) waits for a semaphore at \S+; \d+ in second \(program\.py:11\) waits for a semaphore at \S+")
        self.assertRegex(report["stages"][0]["reason"], rf"^still running after 5\.00 s: it was ended(; until they were gone it took another [\d.]+ m?s)?; {said}$")
        self.assertEqual([finding["rule"] for finding in report["findings"]][:1], ["stage_stuck"])
        self.assertRegex(report["findings"][0]["evidence"]["where"], said)
        # Its failure shows the stacks, in each form of the report.
        folded = "\n".join(report["failures"][0]["stacks"])
        self.assertRegex(folded, r"(?m)^thread \d+ of process \d+ waits for a semaphore(?s:.*)^    first  program\.py:7$")
        self.assertRegex(folded, r"(?m)^    second  program\.py:11$")
        self.assertLessEqual(len(report["failures"][0]["stacks"]), 40)
        for form in ("text", "--full"), ("md",), ("html",):
            text = self.run_command("report", run, "--format", *form).stdout
            self.assertRegex(text, r"first  program\.py:7", form)
        self.assertRegex(done.stderr, rf"(?m)^proftrace: train: still running after 5\.00 s: .*{said}$")

    def test_nothing_moves_and_then_it_does(self):
        self.write_program(PAUSES)
        done = self.run_command("run", "--stall", "1", "--interval", "100", "-o", "run", "--", sys.executable, "program.py")
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
        # Both pauses are looked at, once each, and the work between them is not; the same reason is told once.
        self.assertEqual(len(re.findall(r"nothing has moved for 1\.00 s: process \d+ .*program\.py sleeps? .*rest \(program\.py:3\)", done.stderr)), 1, done.stderr)
        self.assertEqual(self.stacks(self.path("run")).count("\n== ") + 1, 2)
        self.assertEqual(self.report("run")["stages"][0]["status"], "ok")

    def test_a_job_that_is_stopped_is_not_stuck(self):
        """Ctrl-Z: nothing could move meanwhile."""
        self.write_program("import time\nend = time.monotonic() + 5\nwhile time.monotonic() < end: pass\n")
        job = self.start_it(sys.executable, "program.py", options=("--stall", "1", "--interval", "20"), stderr=subprocess.PIPE, start_new_session=True)
        time.sleep(1)
        os.killpg(job.pid, signal.SIGSTOP)
        time.sleep(4)
        os.killpg(job.pid, signal.SIGCONT)
        said = job.communicate(timeout=60)[1]
        self.assertEqual((job.returncode, b"nothing has moved" in said), (0, False), said)

    def test_who_is_missing_among_processes(self):
        """Ranks that wait for one that comes late: told by where they are."""
        self.write_program("""
import os, socket, time
a, b = socket.socketpair()
def work(rank):
    for i in range(300): os.stat("/")  # an event or two, after which it is known where its interpreter is
    if rank == 2:
        time.sleep(4)
        a.send(b"12")
    else: b.recv(1)
    os._exit(0)
for rank in range(3):
    if not os.fork():
        work(rank)
while True: time.sleep(0.05) if os.waitpid(-1, os.WNOHANG)[0] == 0 else os._exit(0)
""")
        done = self.run_command("run", "--stall", "1", "--interval", "100", "-o", "run", "--", sys.executable, "program.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"nothing has moved for 1\.00 s: process \d+ .* in <module> \(program\.py:14\); other processes: ")
        self.assertRegex(done.stderr, r"2 in work \(program\.py:9\)")
        self.assertRegex(done.stderr, r"1 in work \(program\.py:7\)")

    def test_who_computes_is_not_stuck(self):
        done = self.run_command("run", "--stall", "1", "--interval", "100", "-o", "run", "--", sys.executable, "-c", "import time\nwhile time.process_time() < 2.5: pass")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("moved", done.stderr)
        self.assertFalse(os.path.exists(self.path("run/stacks.txt")))
        self.assertNotIn("stage_stuck", [finding["rule"] for finding in self.report("run")["findings"]])

    def start_run(self, *options, **popen):
        process = subprocess.Popen(
            [PROFTRACE, "run", "-o", "run", *options], cwd=self.folder, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **popen)
        self.addCleanup(self.end, process)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def test_sigquit_takes_the_stacks_and_then_ends_it(self):
        """To us alone, as `kill -QUIT` sends it: the command is looked at before it has the signal."""
        self.write_program("import time\ndef rest():\n    time.sleep(60)\nprint('ready', flush=True)\nrest()\n")
        process = self.start_run("--", "sh", "-c", f"ulimit -c 0; exec {sys.executable} program.py")
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(1)  # and it rests
        process.send_signal(signal.SIGQUIT)
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, -signal.SIGQUIT, said)
        self.assertRegex(self.stacks(self.path("run")), r"^== \S+, stage sh: SIGQUIT asked where it is\n(?s:.*)rest  \S*program\.py:3  \(Python\)")
        self.assertRegex(said, r"proftrace: SIGQUIT asked where it is: process \d+ .*rest \(program\.py:3\)")
        report = self.report("run")
        self.assertRegex(report["stages"][0]["reason"], r"^signal 3 \(SIGQUIT\): process \d+ .*rest \(program\.py:3\)")
        self.assertEqual([finding["rule"] for finding in report["findings"]][:1], ["stage_stuck"])

    def test_control_backslash_of_one_that_goes_on(self):
        """The terminal gives it to the command, too; a program that catches it is looked at, and is not called stuck for that."""
        self.write_program("import signal, time\nsignal.signal(signal.SIGQUIT, lambda *_: None)\ndef rest():\n    time.sleep(3)\nprint('ready', flush=True)\nrest()\n")
        process = self.start_run("--", sys.executable, "program.py", start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGQUIT)
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, said)
        self.assertRegex(self.stacks(self.path("run")), r"rest  \S*program\.py:4  \(Python\)")
        report = self.report("run")
        self.assertEqual(report["stages"][0]["status"], "ok")
        self.assertNotIn("stage_stuck", [finding["rule"] for finding in report["findings"]])

    def test_who_asks_is_told_however_often(self):
        """Looks that nobody asked for are counted, so that a training that pauses for days does not fill the disk."""
        self.write_program("import signal, time\nsignal.signal(signal.SIGQUIT, lambda *_: None)\nprint('ready', flush=True)\n"
                           "for _ in range(10**6): time.sleep(0.01)\n")
        process = self.start_run("--", sys.executable, "program.py")
        self.assertEqual(process.stdout.readline(), "ready\n")
        stacks = self.path("run/stacks.txt")
        for n in range(1, 53):
            process.send_signal(signal.SIGQUIT)
            self.wait_for(lambda: os.path.exists(stacks) and self.stacks(self.path("run")).count("SIGQUIT asked where it is\n") >= n)
        process.terminate()  # or it goes on for hours
        process.communicate(timeout=60)

    def test_an_old_look_says_nothing_of_a_later_end(self):
        """It paused, was looked at, went on, and ended by a SIGQUIT of its own: not where it had paused."""
        self.write_program("import os, signal, time\ndef rest(): time.sleep(4)\nrest()\nos.kill(os.getpid(), signal.SIGQUIT)\n")
        done = self.run_command("run", "--stall", "1", "-o", "run", "--", "sh", "-c", f"ulimit -c 0; exec {sys.executable} program.py")
        self.assertIn("nothing has moved", done.stderr)
        self.assertEqual(self.report("run")["stages"][0]["reason"], "signal 3 (SIGQUIT)")

    def test_sigquit_of_a_pipeline(self):
        self.write_program("import time\ndef rest():\n    time.sleep(60)\nopen('ready', 'w').close()\nrest()\n")
        with open(self.path("config.json"), "w", encoding="utf-8") as file:
            json.dump({"profile": {"stages": [{"stage": "train", "cmd": ["sh", "-c", f"ulimit -c 0; {sys.executable} program.py; true"]}]}}, file)
        process = subprocess.Popen([PROFTRACE, "pipeline", "--config", "config.json"], cwd=self.folder, env=clean_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        self.addCleanup(process.stderr.close)
        until = time.monotonic() + 60
        while not os.path.exists(self.path("ready")) and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(1)
        process.send_signal(signal.SIGQUIT)
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, -signal.SIGQUIT, said)
        run = os.path.realpath(self.path("proftrace.data/latest"))
        self.assertRegex(self.stacks(run), r"^== \S+, stage train: SIGQUIT asked where it is\n(?s:.*)rest  \S*program\.py:3  \(Python\)")
        self.assertRegex(self.report(run)["stages"][0]["reason"], r"^interrupted \(SIGQUIT\): it was ended.*; process \d+ .*rest \(program\.py:3\)")

    def test_no_step_although_it_computes(self):
        """Steps came, and then it spins: a spinning lock, a loop that does not end."""
        self.write_program(STEPS)
        done = self.run_command("run", "--stall", "1", "--interval", "100", "-o", "run", "--", sys.executable, "program.py", PYTHONPATH=PACKAGE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"although it computes, it made no step for longer than 1\.00 s: process \d+ .*spin \(program\.py:5\)")
        self.assertEqual([finding["rule"] for finding in self.report("run")["findings"]][:1], ["stage_stuck"])

    def test_steps_as_slow_as_before_are_no_stall(self):
        self.write_program(STEPS.replace("spin(3)", "pass").replace("spin(0.05)", "spin(1.2)").replace("range(20)", "range(3)"))
        done = self.run_command("run", "--stall", "4", "--interval", "100", "-o", "run", "--", sys.executable, "program.py", PYTHONPATH=PACKAGE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(os.path.exists(self.path("run/stacks.txt")), done.stderr)

    def run_training(self, *how):
        self.write_program(TRAINS)
        shutil.rmtree(self.path("run"), ignore_errors=True)
        done = self.run_command("run", "--stall", "1", "--interval", "100", "-o", "run", "--", "/usr/bin/python3", "program.py", *how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    @unittest.skipUnless(HAS_TORCH, "python3-torch is not installed")
    def test_a_training_that_marks_nothing_hangs_in_a_step(self):
        said = self.run_training("backward")
        self.assertRegex(said, r"although it computes, it made no step for longer than 1\.00 s: process \d+ .*spin \(program\.py:5\)")
        self.assertEqual([finding["rule"] for finding in self.report("run")["findings"]][:1], ["stage_stuck"])

    @unittest.skipUnless(HAS_TORCH, "python3-torch is not installed")
    def test_a_training_that_is_at_something_else_does_not_hang(self):
        """Scores of an epoch, a validation of many batches or of one large one."""
        for how in "scores", "validation", "evaluation":
            with self.subTest(how):
                self.assertNotIn("it made no step", self.run_training(how))

    def test_bytes_of_a_network_are_movement(self):
        """A few bytes now and then use no CPU to speak of, and no disk."""
        self.write_program("""
import socket, time
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
other = server.accept()[0]
for i in range(12):
    client.send(b"x")
    other.recv(1)
    time.sleep(0.25)
""")
        done = self.run_command("run", "--stall", "1", "--interval", "100", "-o", "run", "--", sys.executable, "program.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(os.path.exists(self.path("run/stacks.txt")), done.stderr)

    def test_bytes_of_the_output_and_short_processes_are_movement(self):
        """Without --log we do not see what it writes; what lives and ends between two samples is in none."""
        for program in ("import os, time\nfor i in range(12): os.write(1, b'x'); time.sleep(0.25)",
                        "import time\nfor i in range(12): print('x', flush=True); time.sleep(0.25)",
                        "import subprocess, time\nfor i in range(9): subprocess.run(['/bin/true']); time.sleep(0.4)"):
            self.write_program(program)
            with self.subTest(program):
                shutil.rmtree(self.path("run"), ignore_errors=True)
                done = self.run_command("run", "--stall", "1", "--interval", "100", "-o", "run", "--", sys.executable, "program.py")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertFalse(os.path.exists(self.path("run/stacks.txt")), done.stderr)
                self.assertNotIn("stage_stuck", [finding["rule"] for finding in self.report("run")["findings"]])

    def test_equal_stacks_are_folded(self):
        """Twelve threads at one place are told once."""
        self.write_program("""
import threading, time
gate = threading.Event()
def waits(): gate.wait()
for _ in range(12): threading.Thread(target=waits, daemon=True).start()
time.sleep(30)
""")
        with open(self.path("config.json"), "w", encoding="utf-8") as file:
            json.dump({"profile": {"stages": [{"stage": "train", "cmd": [sys.executable, "program.py"], "timeout_s": 5}]}}, file)
        self.run_command("pipeline", "--config", "config.json")
        stacks = self.report(os.path.realpath(self.path("proftrace.data/latest")))["failures"][0]["stacks"]
        self.assertRegex(stacks[0], r"^12 threads of process \d+, as \d+ which waits for ")
        self.assertEqual(sum("waits  program.py:4" in line for line in stacks), 1)

    def test_nobody_asked(self):
        self.run_command("run", "-o", "run", "--", "sleep", "2")
        self.assertFalse(os.path.exists(self.path("run/stacks.txt")))

    def test_quiet(self):
        done = self.run_command("run", "--stall", "1", "-o", "run", "--", "sleep", "4", PROFTRACE_QUIET="1")
        self.assertEqual(done.stderr, "")
        self.assertIn("process", self.stacks(self.path("run")))


if __name__ == "__main__":
    unittest.main()
