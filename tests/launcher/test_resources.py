# SPDX-License-Identifier: MIT
"""What run.json says about resources, held against what the kernel told the program itself."""
import ctypes
import json
import math
import os
import re
import shutil
import subprocess
import sys
import unittest

from resource_case import GPU, PYTHON, ResourceCase, machine


class Tree(ResourceCase):
    def test_every_unknown_has_a_reason(self):
        for command in (("true",), ("sleep", "0.8")):
            self.run_it(*command)
            for name, one in self.record()["resources"].items():
                if one["last"] is None:
                    self.assertTrue(one.get("reason"), name)

    def test_bytes_are_those_of_proc_pid_io(self):
        """To the byte those that the kernel holds for the process when it has ended and nobody has waited for it."""
        path = os.path.join(self.disk, "x")
        process = self.start_it(*PYTHON, f"""
import os
with open({path!r}, "wb") as file:
    file.write(b"x" * (6 << 20)); file.flush(); os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
open({path!r}, "rb").read()
print(os.getpid(), flush=True)
os.read(0, 1)""", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        pid = int(process.stdout.readline())
        io = self.io_of_zombie(pid, process, process.stdin.close)
        self.assertEqual(process.wait(), 0)
        if not io["write_bytes"]:
            self.skipTest("the kernel counts no bytes on this file system")
        self.assertGreaterEqual(io["write_bytes"], 6 << 20)
        self.assertEqual(self.last("disk_read_bytes"), io["read_bytes"])
        self.assertEqual(self.last("disk_write_bytes"), io["write_bytes"])

    def test_bytes_of_children_that_no_sample_saw(self):
        """Twenty writers, each gone long before the first sample, one after another and orphaned ones too."""
        script = f"""
for i in 1 2 3 4 5 6 7 8 9 10; do dd if=/dev/zero of={self.disk}/a$i bs=64k count=16 status=none; done
for i in 1 2 3 4 5 6 7 8 9 10; do (dd if=/dev/zero of={self.disk}/b$i bs=64k count=16 status=none; mv {self.disk}/b$i {self.disk}/c$i) & done
until [ -e {self.disk}/c1 -a -e {self.disk}/c5 -a -e {self.disk}/c10 ]; do :; done; wait"""
        done = self.run_it("sh", "-c", script, options=("--interval", "10000"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(len(self.record()["samples"]), 1)  # the one at the end, if it took long enough
        if not self.last("disk_write_bytes"):
            self.skipTest("the kernel counts no bytes on this file system")
        self.assertGreaterEqual(self.last("disk_write_bytes"), 20 << 20)
        self.assertLess(self.last("disk_write_bytes"), 40 << 20)  # and the library's traces

    def test_parent_that_ignores_its_children(self):
        """Nobody inherits their bytes: what was sampled of them stays, and nothing is made up."""
        code = f"""
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(3):
    if not os.fork():
        open(f"{self.disk}/x{{i}}", "wb").write(b"x" * (2 << 20)); time.sleep(0.8); os._exit(0)
time.sleep(1.6)
say()"""
        said, record = self.told(code, options=("--interval", "100"))
        total = record["resources"]["disk_write_bytes"]["last"]
        if not max(s["disk_write_bytes"] for s in record["samples"]):
            self.skipTest("the kernel counts no bytes on this file system")
        self.assertLess(said["write"], 2 << 20)
        self.assertGreaterEqual(total, 6 << 20)
        self.assertLess(total, 10 << 20)

    def test_switches_are_those_of_getrusage(self):
        said, record = self.told("""
import subprocess, time
subprocess.run(["/bin/sh", "-c", "for i in 1 2 3 4 5; do sleep 0.01; done"])
for i in range(900): time.sleep(0.001)
say()""", options=("--interval", "100"))
        self.assertGreater(said["voluntary"], 900)
        for key in ("voluntary", "involuntary"):
            last = record["resources"][key + "_switches"]["last"]
            self.assertGreaterEqual(last, said[key])
            # After the program has said it come its end and, on a busy machine, more preemption: a tenth covers it.
            self.assertLessEqual(last, said[key] * 1.1 + 60)
        seen = [s["voluntary_switches"] for s in record["samples"]]
        self.assertEqual(seen, sorted(seen))
        self.assertGreater(seen[-1], 500)

    def test_switches_of_threads(self):
        said, record = self.told("""
import _thread, time
lock = _thread.allocate_lock(); left = [12]
def work():
    for i in range(400): time.sleep(0.002)
    with lock: left[0] -= 1
for i in range(12): _thread.start_new_thread(work, ())
while left[0]: time.sleep(0.01)
time.sleep(0.3)
say()""", options=("--interval", "50"))
        self.assertGreater(said["voluntary"], 4800)
        self.assertGreaterEqual(record["resources"]["voluntary_switches"]["last"], said["voluntary"])
        # Ended threads keep what they had when last seen: most of it, unless samples came late.
        self.assertGreater(record["samples"][-1]["voluntary_switches"], said["voluntary"] / 4)
        # On a busy machine a sample may fall into the start, when the helpers of the launcher's child are still there.
        self.assertGreaterEqual(record["resources"]["threads"]["max"], 13)

    def test_cpu_within_two_percent_of_wait4(self):
        """Of a process and its child, as the kernel told the launcher's wait4."""
        code = """
import subprocess, sys, time
burn = "import time\\nt=time.process_time()\\nwhile time.process_time()-t<0.7: pass"
subprocess.run([sys.executable, "-S", "-c", burn])
t = time.process_time()
while time.process_time() - t < 1.2: pass"""
        seen_s, status = self.end_of(self.start_it(*PYTHON, code, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        self.assertEqual(status, 0)
        self.assertGreater(seen_s, 1.8)
        self.assertAlmostEqual(self.record()["cpu_s"], seen_s, delta=0.02 * seen_s)

    def test_run_queue_of_processes_that_compete(self):
        n = 3 * machine.cpus()
        burn = "import time\nt=time.process_time()\nwhile time.process_time()-t<0.5: pass\nimport os; os.write(1, (open('/proc/self/schedstat').read().split()[1] + chr(10)).encode())"
        done = self.run_it("sh", "-c", f"for i in $(seq {n}); do {sys.executable} -S -c \"$0\" & done; wait", burn,
                           options=("--interval", "100"))
        said = sum(map(int, done.stdout.split())) / 1e9
        # A lower bound: what a process waited after the last look at it is not seen.
        self.assertLessEqual(self.last("run_queue_s"), said * 1.1 + 1)  # starting and ending, and the shell
        self.assertGreater(self.last("run_queue_s"), said * 0.5)

    def test_memory_is_that_of_smaps(self):
        """Most of it is private: what interpreters share counts less in PSS for each other one that runs on the machine. Long
        enough for a busy machine: one look at PSS takes 7 ms here, and the next comes 1,000 times as long after it. So the
        first look counts too: what of a page is whose changes while the child runs through its memory, their sum does not."""
        said, record = self.told("""
import mmap, time
private = bytearray(150 << 20)
shared = mmap.mmap(-1, 15 << 20); shared[:] = b"x" * (15 << 20)
child = os.fork()
if not child:
    sum(shared[::4096]); time.sleep(12); os._exit(0)
time.sleep(6)
def smaps(pid): return {l.split(":")[0]: int(l.split()[1]) * 1024 for l in open(f"/proc/{pid}/smaps_rollup").readlines()[1:]}
a, b = smaps(os.getpid()), smaps(child)
os.waitpid(child, 0)
say(rss=a["Rss"] + b["Rss"], pss=a["Pss"] + b["Pss"])""", options=("--interval", "100"))
        both = [s for s in record["samples"] if s["processes"] == 2]
        rss = sorted(s["rss_bytes"] for s in both[3:])[len(both[3:]) // 2]  # the child runs through its memory first
        pss = sorted(s["pss_bytes"] for s in both if s["pss_bytes"] is not None)
        self.assertAlmostEqual(rss, said["rss"], delta=0.02 * said["rss"])
        self.assertTrue(pss)
        self.assertAlmostEqual(pss[len(pss) // 2], said["pss"], delta=0.02 * said["pss"])
        self.assertLess(said["pss"], said["rss"] - (12 << 20))

    def test_peak_between_two_samples(self):
        said, record = self.told("x = bytearray(300 << 20)\ndel x\nsay()", options=("--interval", "5000"))
        self.assertGreater(said["hwm"], 300 << 20)
        self.assertAlmostEqual(record["rss_max_bytes"], said["hwm"], delta=0.02 * said["hwm"])

    def test_reported_peak_of_a_process(self):
        """What the report says of the stage, and the library's own note of the peak."""
        said, _ = self.told("x = bytearray(200 << 20)\nsay()")
        done = self.proftrace("report", "--format", "json", "proftrace.data/latest")
        self.assertEqual(done.returncode, 0, done.stderr)
        stage = json.loads(done.stdout)["stages"][0]
        self.assertAlmostEqual(stage["rss_mb_max"] * (1 << 20), said["hwm"], delta=0.02 * said["hwm"])
        dump = self.proftrace("dump", "proftrace.data/latest").stdout.decode()
        noted = [int(bytes_) for bytes_ in re.findall(r"^process .* max_rss_bytes=(\d+)", dump, re.M)]
        self.assertTrue(noted)
        self.assertAlmostEqual(max(noted), said["hwm"], delta=0.02 * said["hwm"])

    def test_another_users_process(self):
        """As a plain user with a child whose /proc/PID/io is root's alone: unknown while it lives, never too small."""
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root and setpriv")
        os.chmod(self.folder, 0o777)
        closed = ("import ctypes, time\nctypes.CDLL(None).prctl(4, 0)\ntime.sleep(2)")  # PR_SET_DUMPABLE 0
        done = self.as_nobody("--interval", "200", "--", sys.executable, "-c", closed)
        self.assertEqual(done.returncode, 0, done.stderr)
        record = self.record()
        self.assertTrue(record["samples"])
        self.assertIsNone(record["samples"][len(record["samples"]) // 2]["disk_read_bytes"])
        self.assertIsNotNone(record["resources"]["disk_read_bytes"]["last"])  # its end told

    def as_nobody(self, *arguments):
        program = shutil.copytree(os.path.dirname(os.path.abspath(self.build_program())), os.path.join(self.folder, "bin"),
                                  ignore=lambda folder, names: [n for n in names if n not in ("proftrace", "libproftrace.so")])
        return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", os.path.join(program, "proftrace"),
                               "run", "--no-report", *arguments], cwd=self.folder, capture_output=True, timeout=200,
                              env={"PATH": os.environ["PATH"], "HOME": self.folder})

    @staticmethod
    def build_program():
        import launcher_case
        return launcher_case.PROFTRACE

    def test_as_a_plain_user(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root and setpriv")
        os.chmod(self.folder, 0o777)
        done = self.as_nobody("--", "sleep", "1.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("cpu_percent", "rss_bytes", "disk_read_bytes", "voluntary_switches", "run_queue_s", "machine_cpu_percent",
                     "net_receive_bytes"):
            self.assertIsNotNone(self.last(name), name)

    def test_loopback_is_apart(self):
        code = """
import socket
a = socket.create_server(("127.0.0.1", 0)); b = socket.create_connection(a.getsockname()); c, _ = a.accept()
for i in range(100):
    b.sendall(b"x" * 50000)
    n = 0
    while n < 50000: n += len(c.recv(65536))
"""
        self.run_it(sys.executable, "-c", code)
        self.assertGreater(self.last("net_loopback_bytes"), 5000000)
        self.assertLess(self.last("net_send_bytes"), 5000000)


class Plain(ResourceCase):
    def test_without_any_driver(self):
        try:
            ctypes.CDLL("libnvidia-ml.so.1")
            self.skipTest("there is a driver")
        except OSError:
            pass
        if shutil.which("nvidia-smi"):
            self.skipTest("there is a driver")
        self.run_it("sleep", "0.7")
        for name in GPU:
            self.assertIn("no NVIDIA driver", self.reason(name))

    def test_totals_add_up_over_samples(self):
        self.run_it("sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done", options=("--interval", "100"))
        record = self.record()
        for name in ("disk_read_bytes", "voluntary_switches", "run_queue_s", "net_loopback_bytes"):
            values = [s[name] for s in record["samples"] if s[name] is not None]
            self.assertEqual(values, sorted(values), name)
            self.assertFalse(any(math.isnan(v) or v < 0 for v in values), name)
            self.assertGreaterEqual(record["resources"][name]["last"], values[-1])


if __name__ == "__main__":
    unittest.main()
