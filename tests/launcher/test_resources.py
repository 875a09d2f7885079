# SPDX-License-Identifier: MIT
"""What run.json says about resources, held against what the kernel told the program itself; GPUs by doubles."""
import ctypes
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from launcher_case import LauncherCase

DOUBLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fakenvml")
GPU = ("gpu_util_percent", "gpu_mem_bytes", "gpu_power_w", "gpu_energy_j", "gpu_temperature_c", "gpu_throttled_percent",
       "gpu_power_cap_percent", "gpu_hw_slowdown_percent", "gpu_sw_thermal_percent", "gpu_hw_thermal_percent", "gpu_power_brake_percent")
PYTHON = (sys.executable, "-S", "-c")
# Says at its end what the kernel has counted for it: its own and that of children it has waited for.
SAY = """
import json, os, resource
def say(**more):
    io = dict(line.split(": ") for line in open("/proc/self/io").read().splitlines())
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    hwm = [l.split()[1] for l in open("/proc/self/status") if l.startswith("VmHWM")][0]
    print(json.dumps(dict(more, read=int(io["read_bytes"]), write=int(io["write_bytes"]),
        voluntary=own.ru_nvcsw + children.ru_nvcsw, involuntary=own.ru_nivcsw + children.ru_nivcsw,
        cpu=own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime, hwm=int(hwm) * 1024)), flush=True)
"""


class ResourceCase(LauncherCase):
    def setUp(self):
        super().setUp()
        # /tmp may be memory: bytes go to storage only from a folder on a disk.
        self.disk = os.path.realpath(tempfile.mkdtemp(prefix="resources-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.disk, ignore_errors=True)

    def last(self, resource):
        return self.record()["resources"][resource]["last"]

    def reason(self, resource):
        one = self.record()["resources"][resource]
        self.assertIsNone(one["last"], resource)
        return one.get("reason") or ""

    def told(self, code, **more):
        """Run Python code that calls say(); what it said and what the record says."""
        done = self.run_it(*PYTHON, SAY + code, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), self.record()


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
        # Ended threads keep what they had when last seen: most of it.
        self.assertGreater(record["samples"][-1]["voluntary_switches"], said["voluntary"] / 2)
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
        n = 3 * (os.cpu_count() or 1)
        burn = "import time\nt=time.process_time()\nwhile time.process_time()-t<0.5: pass\nimport os; os.write(1, (open('/proc/self/schedstat').read().split()[1] + chr(10)).encode())"
        done = self.run_it("sh", "-c", f"for i in $(seq {n}); do {sys.executable} -S -c \"$0\" & done; wait", burn,
                           options=("--interval", "100"))
        said = sum(map(int, done.stdout.split())) / 1e9
        # A lower bound: what a process waited after the last look at it is not seen.
        self.assertLessEqual(self.last("run_queue_s"), said * 1.1 + 1)  # starting and ending, and the shell
        self.assertGreater(self.last("run_queue_s"), said * 0.5)

    def test_memory_is_that_of_smaps(self):
        """Most of it is private: what interpreters share counts less in PSS for each other one that runs on the machine."""
        said, record = self.told("""
import mmap, time
private = bytearray(150 << 20)
shared = mmap.mmap(-1, 15 << 20); shared[:] = b"x" * (15 << 20)
child = os.fork()
if not child:
    sum(shared[::4096]); time.sleep(6); os._exit(0)
time.sleep(3)
def smaps(pid): return {l.split(":")[0]: int(l.split()[1]) * 1024 for l in open(f"/proc/{pid}/smaps_rollup").readlines()[1:]}
a, b = smaps(os.getpid()), smaps(child)
time.sleep(3)
os.waitpid(child, 0)
say(rss=a["Rss"] + b["Rss"], pss=a["Pss"] + b["Pss"])""", options=("--interval", "100"))
        both = [s for s in record["samples"] if s["processes"] == 2][3:]  # the child runs through its memory first
        rss = sorted(s["rss_bytes"] for s in both)[len(both) // 2]
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
        closed = ("import ctypes, time\nctypes.CDLL(None).prctl(4, 0)\ntime.sleep(1)")  # PR_SET_DUMPABLE 0
        done = self.as_nobody("--interval", "200", "--", sys.executable, "-c", closed)
        self.assertEqual(done.returncode, 0, done.stderr)
        record = self.record()
        self.assertTrue(record["samples"])
        self.assertIsNone(record["samples"][1]["disk_read_bytes"])
        self.assertIsNotNone(record["resources"]["disk_read_bytes"]["last"])  # its end told

    def as_nobody(self, *arguments):
        program = shutil.copytree(os.path.dirname(os.path.abspath(self.build_program())), os.path.join(self.folder, "bin"),
                                  ignore=lambda folder, names: [n for n in names if n not in ("proftrace", "libproftrace.so")])
        return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", os.path.join(program, "proftrace"),
                               "run", "--no-report", *arguments], cwd=self.folder, capture_output=True, timeout=60,
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


class Gpu(ResourceCase):
    @classmethod
    def setUpClass(cls):
        cls.libraries = tempfile.mkdtemp(prefix="fakenvml-")
        cls.addClassCleanup(shutil.rmtree, cls.libraries)
        for name, options in (("new", ()), ("old", ("-DOLD_DRIVER",))):
            os.mkdir(os.path.join(cls.libraries, name))
            made = subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-Wall", "-Wextra", *options, "-o",
                                   os.path.join(cls.libraries, name, "libnvidia-ml.so.1"),
                                   os.path.join(DOUBLES, "fakenvml.c")], capture_output=True, check=False)
            if made.returncode:
                raise unittest.SkipTest(made.stderr.decode())

    def play(self, script, *command, library="new", options=("--interval", "100"), **more):
        path = os.path.join(self.folder, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script.strip() + f"\nlog {self.folder}/calls\n")
        environment = {"FAKENVML": path, "LD_LIBRARY_PATH": os.path.join(self.libraries, library)}
        begin = time.monotonic()
        done = self.run_it(*(command or ("sleep", "1")), options=options, environment={**environment, **more})
        self.wall = time.monotonic() - begin
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.record()

    @classmethod
    def has_ended(cls, pid):
        """Soon: a process that was killed still has to be given a CPU to die on."""
        until = time.monotonic() + 5
        while not cls.is_gone(pid):
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    @staticmethod
    def is_gone(pid):
        """Also when process 1 of this machine does not wait for orphans."""
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                return file.read().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True

    def calls(self):
        with open(os.path.join(self.folder, "calls"), encoding="ascii") as file:
            return [line.split() for line in file]

    ONE = """
device NVIDIA H200
util 10 40 40 100
mem 1073741824 2147483648
power 100000 300000
energy_w 250
temperature 40 60 50
reasons 0x1 0x4 0x40 0
"""

    def test_values(self):
        record = self.play(self.ONE)
        resources = record["resources"]
        self.assertEqual(record["machine"]["gpus"], ["NVIDIA H200"])
        self.assertEqual(record["samples"][0]["gpu_util_percent"], 40)  # 10 was before the start
        self.assertEqual(resources["gpu_util_percent"]["max"], 100)
        self.assertEqual(resources["gpu_mem_bytes"]["max"], 2 << 30)
        self.assertEqual(resources["gpu_power_w"]["last"], 300)
        self.assertEqual(resources["gpu_temperature_c"]["max"], 60)
        self.assertEqual([s["gpu_throttled_percent"] for s in record["samples"][:3]], [100, 100, 0])
        # Which reason it was, sample by sample: the power cap, then heat.
        self.assertEqual([s["gpu_power_cap_percent"] for s in record["samples"][:3]], [100, 0, 0])
        self.assertEqual([s["gpu_hw_thermal_percent"] for s in record["samples"][:3]], [0, 100, 0])
        for reason in ("hw_slowdown", "sw_thermal", "power_brake"):
            self.assertEqual(resources[f"gpu_{reason}_percent"]["max"], 0)
        report = self.proftrace("report", "--format", "md").stdout.decode()
        self.assertIn("| GPU Throttled |", report)
        self.assertRegex(report, r"\| power cap \d+ %, heat \(hardware\) \d+ % \|")
        expected = 250 * record["duration_ns"] / 1e9
        self.assertAlmostEqual(resources["gpu_energy_j"]["last"], expected, delta=0.05 * expected + 5)
        self.assertTrue(all(s["gpu_util_percent"] is not None for s in record["samples"]))

    def test_who_asks_and_how_often(self):
        """A process of ours, neither the launcher nor the traced program; six calls per reading, no list of processes."""
        record = self.play(self.ONE)
        calls = self.calls()
        self.assertEqual(len({pid for pid, _ in calls}), 1)
        self.assertNotEqual(int(calls[0][0]), record["pid"])
        self.assertTrue(self.has_ended(calls[0][0]))
        self.assertEqual([name for _, name in calls].count("init"), 1)
        readings = [name for _, name in calls].count("util")
        self.assertLessEqual(readings, len(record["samples"]) + 2)
        self.assertEqual(len(calls), 2 + 6 * readings)
        self.assertEqual(record["resources"]["processes"]["max"], 1)

    def test_all_gpus_count_whatever_is_visible(self):
        two = self.ONE + self.ONE.replace("util 10 40 40 100", "util 60 0 0 0").replace("temperature 40 60 50", "temperature 81")
        resources = self.play(two, CUDA_VISIBLE_DEVICES="1")["resources"]
        self.assertEqual(resources["gpu_util_percent"]["max"], 50)
        self.assertEqual(resources["gpu_mem_bytes"]["max"], 4 << 30)
        self.assertEqual(resources["gpu_power_w"]["last"], 600)
        self.assertEqual(resources["gpu_temperature_c"]["max"], 81)

    def test_what_a_gpu_does_not_support(self):
        record = self.play(self.ONE + "error util 3\n")
        self.assertIn("Not Supported", self.reason("gpu_util_percent"))  # as in MIG mode
        self.assertIn("NVIDIA H200", self.reason("gpu_util_percent"))
        self.assertEqual(record["resources"]["gpu_mem_bytes"]["max"], 2 << 30)

    def test_one_gpu_that_does_not_tell(self):
        self.play(self.ONE + self.ONE + "error power 3\n")
        self.assertIn("GPU 1", self.reason("gpu_power_w"))

    def test_old_driver(self):
        resources = self.play(self.ONE, library="old")["resources"]
        self.assertEqual(resources["gpu_throttled_percent"]["max"], 100)
        expected = 300 * self.record()["duration_ns"] / 1e9
        self.assertAlmostEqual(resources["gpu_energy_j"]["last"], expected, delta=0.15 * expected)
        self.assertIn("power", resources["gpu_energy_j"]["reason"])

    def test_lost_gpu(self):
        record = self.play(self.ONE.replace("energy_w 250", "energy 1000 21000 41000") + "lost 4\n")
        known = [s["gpu_util_percent"] for s in record["samples"]]
        self.assertEqual(known[:2], [40, 40])
        self.assertIsNone(known[-1])
        self.assertEqual(record["resources"]["gpu_energy_j"]["last"], 40)
        self.assertIn("lost", record["resources"]["gpu_util_percent"]["reason"])
        self.assertEqual([n for _, n in self.calls()].count("util"), 4)  # no more calls to a dead device

    def test_counter_that_starts_again(self):
        record = self.play(self.ONE.replace("energy_w 250", "energy 90000 95000 2000 4000"))
        self.assertEqual(record["resources"]["gpu_energy_j"]["last"], 9)

    def test_driver_and_library_differ(self):
        self.play(self.ONE + "init 18\n")
        for name in GPU:
            self.assertIn("Driver/library version mismatch", self.reason(name))

    def test_no_gpu_in_it(self):
        self.play("")
        self.assertIn("no GPU", self.reason("gpu_util_percent"))

    def test_driver_that_crashes(self):
        self.play(self.ONE + "crash init\n")
        self.assertIn("ended", self.reason("gpu_util_percent"))
        record = self.play(self.ONE + "crash power\n")
        self.assertIsNone(record["resources"]["gpu_util_percent"]["last"])

    def test_driver_that_hangs(self):
        self.play(self.ONE + "hang init\n", "sleep", "0.3")
        self.assertLess(self.wall, 5)
        self.assertIn("did not answer", self.reason("gpu_util_percent"))
        record = self.play(self.ONE + "hang power 3\n")
        self.assertEqual(record["resources"]["gpu_util_percent"]["last"], 40)
        self.assertGreaterEqual(len(record["samples"]), 4)  # the others go on, on a busy machine less often
        self.assertLess(self.wall, 6)
        for pid in {pid for pid, _ in self.calls()}:
            self.assertTrue(self.has_ended(pid))

    def test_switched_off(self):
        self.play(self.ONE, options=("--no-gpu-sampling",))
        self.assertIn("--no-gpu-sampling", self.reason("gpu_util_percent"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "calls")))

    def test_killed_launcher_takes_the_helper_along(self):
        path = os.path.join(self.folder, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.ONE + f"log {self.folder}/calls\n")
        process = self.start_it("sleep", "1", stderr=subprocess.DEVNULL, environment={
            "FAKENVML": path, "LD_LIBRARY_PATH": os.path.join(self.libraries, "new")})
        time.sleep(0.4)
        process.kill()
        process.wait()
        time.sleep(0.2)
        self.assertTrue(self.has_ended(self.calls()[0][0]))


class NvidiaSmi(ResourceCase):
    """Where NVML cannot be loaded."""

    def play(self, answer, *files, command=("sleep", "1"), interval="100", **values):
        folder = os.path.join(self.folder, "smi")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for name, content in (("answer", answer), *((f, "") for f in files), *values.items()):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(str(content))
        done = self.run_it(*command, options=("--interval", interval),
                           environment={"FAKE_SMI": folder, "PATH": f"{DOUBLES}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(folder, "log"), encoding="utf-8") as file:
            self.log = file.read().splitlines()
        return self.record()

    def test_values(self):
        record = self.play("75, 2048, 300.50, 61, 0x0000000000000004, NVIDIA H200\n25, 1024, 99.50, 45, 0x0, NVIDIA H200\n",
                           command=("sleep", "6"), interval="500")
        resources = record["resources"]
        self.assertEqual(resources["gpu_util_percent"]["last"], 50)
        self.assertEqual(resources["gpu_mem_bytes"]["last"], 3 << 30)
        self.assertEqual(resources["gpu_power_w"]["last"], 400)
        self.assertEqual(resources["gpu_temperature_c"]["max"], 61)
        self.assertEqual(resources["gpu_throttled_percent"]["max"], 50)
        self.assertEqual([resources[f"gpu_{name}_percent"]["max"] for name in ("power_cap", "hw_thermal")], [50, 0])
        self.assertIn("power", resources["gpu_energy_j"]["reason"])
        self.assertAlmostEqual(resources["gpu_energy_j"]["last"], 400 * 5, delta=400)
        self.assertEqual(len(self.log), 2)  # in six seconds
        self.assertEqual(resources["processes"]["max"], 1)

    def test_old_one(self):
        self.play("75, 2048, 300.50, 61, 0x4, Tesla V100\n", "old")
        self.assertEqual(len(self.log), 2)
        self.assertIn("clocks_throttle_reasons", self.log[1])

    def test_fields_that_a_card_does_not_have(self):
        self.play("75, 2048, [N/A], 61, [Not Supported], GeForce\n", command=("sleep", "5.6"), interval="200")
        self.assertIn("[N/A]", self.reason("gpu_power_w"))
        self.assertIn("[Not Supported]", self.reason("gpu_power_cap_percent"))
        self.assertEqual(self.last("gpu_util_percent"), 75)
        self.assertIn("tell", self.reason("gpu_energy_j"))

    def test_slow_one_holds_nothing_up(self):
        begin = time.monotonic()
        record = self.play("75, 2048, 300.50, 61, 0x0, NVIDIA H200\n", slow=40)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertGreaterEqual(len(record["samples"]), 2)

    def test_broken(self):
        self.play("", "broken")
        self.assertIn("couldn't communicate", self.reason("gpu_util_percent"))


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
