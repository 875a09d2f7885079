# SPDX-License-Identifier: MIT
"""The stacks of `proftrace stacks` are those of gdb (C++, Rust) and of py-spy (CPython 3.8 to 3.13), and looking harms nobody.

py-spy is installed from PyPI into an environment of its own in the build folder; interpreters are those that this machine has.
PROFTRACE_LOOKS: how often a busy program is looked at (default: 3000, three to eight minutes)."""
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build"))
PROFTRACE = os.path.join(BUILD, "proftrace")
PLACE = os.path.join(BUILD, "tests", "py-spy")
OURS = ("PROFTRACE_", "ENABLE_PROFILING", "PROFILE_OUTPUT_DIR", "LD_PRELOAD")
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
LOOKS = int(os.environ.get("PROFTRACE_LOOKS", "3000"))


def py_spy():
    """Its path, or SkipTest."""
    found = shutil.which("py-spy") or os.path.join(PLACE, "bin", "py-spy")
    if os.path.exists(found):
        return found
    for command in ([sys.executable, "-m", "venv", PLACE],
                    [os.path.join(PLACE, "bin", "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", "py-spy"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
        if done.returncode:
            raise unittest.SkipTest(f"py-spy cannot be installed: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    return found


def version_of(python):
    done = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=False)
    return tuple(map(int, done.stdout.strip().split("."))) if done.returncode == 0 else (0, 0)


PYTHONS = [python for python in sorted(glob.glob("/usr/bin/python3.[0-9]*[0-9]") + glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))
           if (3, 8) <= version_of(python) <= (3, 13)]


class Agreement(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="agree-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *command):
        program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT, cwd=self.folder, start_new_session=True)
        self.addCleanup(program.wait)
        self.addCleanup(os.killpg, program.pid, signal.SIGKILL)
        self.addCleanup(program.stdout.close)
        self.assertEqual(program.stdout.readline().split()[:1], ["ready"])
        return program

    def ask(self, of, *options):
        return subprocess.run([PROFTRACE, "stacks", *options, str(of)], env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)

    def look(self, of, is_there=lambda look: True):
        for _ in range(100):
            done = self.ask(of, "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            look = json.loads(done.stdout)
            if is_there(look):
                break
            time.sleep(0.05)
        return look

    def both(self, ours, theirs):
        """What both say of a program that waits: it may say "ready" a moment before it does, so ours must be the same after theirs as before."""
        for _ in range(20):
            before, witness, after = ours(), theirs(), ours()
            if before == after:
                break
        return after, witness

    # ---- Python ----

    def agrees_with_py_spy(self, python, is_traced=True):
        run, command = tempfile.mktemp(dir=self.folder), (python, os.path.join(HERE, "places.py"))
        program = self.start(*((PROFTRACE, "run", "--no-report", "-o", run, "--") if is_traced else ()), *command)
        look = lambda: self.look(run if is_traced else program.pid)["processes"][0]  # noqa: E731
        ours, theirs = self.both(lambda: self.python_of(look()), lambda: self.frames_of_py_spy(look()["pid"]))
        self.assertEqual(ours, theirs)
        self.assertEqual(len(ours), 12)
        return look()

    def frames_of_py_spy(self, pid):
        theirs = {}
        done = subprocess.run([py_spy(), "dump", "--json", "--pid", str(pid)], env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for thread in json.loads(done.stdout):
            theirs[thread["os_thread_id"] or pid] = [
                (frame["name"].split(".")[-1], os.path.basename(frame["filename"]), frame["line"]) for frame in thread["frames"]]
        return theirs

    def python_of(self, process):
        ours = {}
        for thread in process["threads"]:
            frames = [(f["function"].split(".")[-1], os.path.basename(f["file"] or ""), f["line"]) for f in thread["frames"] if f["python"]]
            if frames:
                ours[thread["tid"]] = frames
        return ours

    def test_mixed_stacks_have_c_between_python(self):
        """Python calls qsort, which calls Python back: gdb and py-spy see one half each."""
        for python in PYTHONS:
            with self.subTest(python=python):
                process = self.agrees_with_py_spy(python)
                thread = next(t for t in process["threads"] if "in_callback_of_c" in [f["function"] for f in t["frames"]])
                names = [(f["function"] or "?").split(".")[-1] for f in thread["frames"]]
                wanted = ["read", "wait_here", "compare", "qsort_r", "ffi_call", "in_callback_of_c", "run", "start_thread"]
                self.assertEqual([name for name in names if name in wanted], wanted)

    # ---- C++ and Rust ----

    def frames_of_gdb(self, pid):
        said = subprocess.run(["gdb", "-nx", "-batch", "-p", str(pid), "-ex", "set width 0", "-ex", "set print frame-arguments none",
                               "-ex", "thread apply all bt"], capture_output=True, text=True, timeout=300,
                              env={**ENVIRONMENT, "DEBUGINFOD_URLS": ""}, check=False).stdout
        threads, tid = {}, 0
        for line in said.splitlines():
            head = re.match(r"Thread \d+ \(.*LWP (\d+)\)", line)
            frame = re.match(r"#\d+ +(?:0x[0-9a-f]+ in )?.*? at (?:.*/)?(places\.\w+):(\d+)$", line)
            if head:
                tid = int(head.group(1))
                threads[tid] = []
            elif frame and tid:
                threads[tid].append((frame.group(1), int(frame.group(2))))
        if not threads:
            self.skipTest("gdb may not attach here")
        return threads

    def lines_of(self, look, source):
        return {t["tid"]: [(source, f["line"]) for f in t["frames"] if os.path.basename(f["file"] or "") == source]
                for t in look["processes"][0]["threads"]}

    def agrees_with_gdb(self, program, source, n_frames):
        process = self.start(program)
        is_there = lambda look: sum(map(len, self.lines_of(look, source).values())) >= n_frames  # noqa: E731
        ours, theirs = self.both(lambda: self.lines_of(self.look(process.pid, is_there), source), lambda: self.frames_of_gdb(process.pid))
        self.assertEqual(ours, theirs)
        self.assertGreaterEqual(sum(map(len, ours.values())), n_frames)

    @unittest.skipUnless(shutil.which("gdb") and shutil.which("c++"), "needs gdb and a C++ compiler")
    def test_c_plus_plus(self):
        for level in "-O0", "-O2":
            with self.subTest(level=level):
                program = self.path(f"places{level}")
                subprocess.run(["c++", level, "-g", os.path.join(HERE, "places.cc"), "-o", program], check=True)
                self.agrees_with_gdb(program, "places.cc", 6)

    @unittest.skipUnless(shutil.which("gdb") and shutil.which("rustc"), "needs gdb and rustc")
    def test_rust(self):
        for level in "0", "3":
            with self.subTest(level=level):
                program = self.path(f"places{level}")
                subprocess.run(["rustc", "-g", "-C", f"opt-level={level}", os.path.join(HERE, "places.rs"), "-o", program], check=True,
                               capture_output=True)
                self.agrees_with_gdb(program, "places.rs", 3)

    # ---- many, and short-lived ----

    def test_two_thousand_threads(self):
        script = ("import threading, os\nnever, keep = os.pipe()\ndef idle():\n    os.read(never, 1)\n"
                  "threading.stack_size(65536)\nfor _ in range(2000):\n    threading.Thread(target=idle, daemon=True).start()\n"
                  "print('ready', flush=True)\nos.read(never, 1)\n")
        run = self.path("run")
        self.start(PROFTRACE, "run", "--no-report", "-o", run, "--", "/usr/bin/python3", "-c", script)
        look = self.look(run)
        threads = look["processes"][0]["threads"]
        self.assertEqual(len(threads), 2001)
        self.assertEqual({t["does"].split(" descriptor")[0] for t in threads}, {"waits for data from"})
        self.assertFalse(any(t["was_stopped"] for t in threads))
        self.assertGreaterEqual(sum("idle" in [f["function"] for f in t["frames"]] for t in threads), 2000)

    def test_processes_that_end_meanwhile(self):
        """Of each either a look or one line, whatever the moment."""
        script = "import os\nprint('ready', flush=True)\nwhile True:\n    child = os.fork()\n    if not child: os._exit(0)\n    os.waitpid(child, 0)\n"
        program = self.start(sys.executable, "-c", script)
        for _ in range(200):
            done = self.ask(program.pid, "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr, "")
            self.assertEqual(json.loads(done.stdout)["conclusions"], [])
        for _ in range(200):
            short = subprocess.Popen(["true"])
            done = self.ask(short.pid)
            self.assertIn((done.returncode, done.stderr.count("\n")), ((0, 0), (3, 1)), done.stderr)
            short.wait()

    def test_looked_at_all_the_time_it_does_the_same(self):
        """Threads, children, signals, sleeps and input and output, each of which a careless stop would disturb."""
        script = """
import hashlib, os, queue, signal, subprocess, sys, threading, time
stop, results, alarms = threading.Event(), queue.Queue(), [0]
signal.signal(signal.SIGALRM, lambda *_: alarms.__setitem__(0, alarms[0] + 1))
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
def chain(n):
    h = b''
    for _ in range(n): h = hashlib.md5(h).digest()
    return h.hex()
def work():
    results.put(chain(20000))
print('ready', flush=True)
rounds = []
while not os.path.exists(sys.argv[1]):
    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads: t.start()
    r, w = os.pipe()
    child = subprocess.run([sys.executable, '-S', '-c', 'print(6*7)'], capture_output=True, text=True)
    os.write(w, b'x' * 1000)
    rounds.append((len(os.read(r, 1000)), child.stdout, child.returncode))
    os.close(r); os.close(w)
    begin = time.monotonic(); time.sleep(0.01); rounds[-1] += (time.monotonic() - begin >= 0.01,)
    for t in threads: t.join()
    rounds[-1] += tuple(results.get() for _ in threads)
signal.setitimer(signal.ITIMER_REAL, 0)  # or one ends it when the interpreter has taken its handlers back
print(sorted(set(rounds)), alarms[0] > 0)
"""
        end = self.path("end")
        program = subprocess.Popen([sys.executable, "-c", script, end], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.assertEqual(program.stdout.readline(), "ready\n")
        looks = stopped = 0

        def drain():
            for _ in range(LOOKS):
                done = self.ask(program.pid, "--format", "json")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                nonlocal looks, stopped
                looks += 1
                stopped += any(t["was_stopped"] for p in json.loads(done.stdout)["processes"] for t in p["threads"])
        thread = threading.Thread(target=drain)
        thread.start()
        thread.join()
        with open(end, "w", encoding="ascii"):
            pass
        out, err = program.communicate(timeout=60)
        digest = b""
        for _ in range(20000):
            digest = hashlib.md5(digest).digest()
        self.assertEqual(looks, LOOKS)
        self.assertEqual((program.returncode, err), (0, ""))
        self.assertEqual(out, f"{[(1000, '42' + chr(10), 0, True) + (digest.hex(),) * 3]} True\n")
        print(f"{looks} looks, {stopped} of them with a stop", file=sys.stderr)


def agrees(python):
    def test(self):
        for is_traced in True, False:
            with self.subTest(is_traced=is_traced):
                self.agrees_with_py_spy(python, is_traced)
    return test


for one in PYTHONS:
    setattr(Agreement, f"test_{'_'.join(map(str, version_of(one)))}_of_{'debian' if one.startswith('/usr') else 'pyenv'}", agrees(one))

if __name__ == "__main__":
    unittest.main()
