# SPDX-License-Identifier: MIT
"""What run.json says about GPUs, by doubles of NVML and nvidia-smi, each with its own faults."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from launcher_case import PROFTRACE
from resource_case import GPU, ResourceCase

DOUBLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fakenvml")


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
        self.done = done
        return self.record()

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
        said = self.proftrace("report").stdout  # nobody recorded what ran: whose it was is not known
        self.assertIn("GPU of all processes", said if isinstance(said, str) else said.decode())
        self.assertEqual([s["gpu_throttled_percent"] for s in record["samples"][:3]], [100, 100, 0])
        # Which reason it was, sample by sample: the power cap, then heat.
        self.assertEqual([s["gpu_power_cap_percent"] for s in record["samples"][:3]], [100, 0, 0])
        self.assertEqual([s["gpu_hw_thermal_percent"] for s in record["samples"][:3]], [0, 100, 0])
        for reason in ("hw_slowdown", "sw_thermal", "power_brake"):
            self.assertEqual(resources[f"gpu_{reason}_percent"]["max"], 0)
        report = self.proftrace("report", "--format", "md").stdout.decode()
        self.assertIn("| GPU Throttled |", report)
        self.assertRegex(report, r"\| power cap \d+ %, heat \(hardware\) \d+ % \|")
        # To the millijoule what the counter rose by while we looked, and that was all of the run, on a busy machine a little more.
        counter = [int(value) for _, name, *values in self.calls() if name == "energy" for value in values]
        self.assertAlmostEqual(resources["gpu_energy_j"]["last"], (counter[-1] - counter[0]) / 1000, delta=0.001)
        self.assertGreater(resources["gpu_energy_j"]["last"], 0.95 * 250 * record["duration_ns"] / 1e9 - 5)
        self.assertLess(resources["gpu_energy_j"]["last"], 250 * self.wall)
        self.assertTrue(all(s["gpu_util_percent"] is not None for s in record["samples"]))

    def test_who_asks_and_how_often(self):
        """A process of ours, neither the launcher nor the traced program; six calls per reading, no list of processes."""
        record = self.play(self.ONE)
        calls = self.calls()
        self.assertEqual(len({pid for pid, *_ in calls}), 1)
        self.assertNotEqual(int(calls[0][0]), record["pid"])
        self.assertTrue(self.has_ended(calls[0][0]))
        self.assertEqual([name for _, name, *_ in calls].count("init"), 1)
        readings = [name for _, name, *_ in calls].count("util")
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
        self.assertGreater(resources["gpu_energy_j"]["last"], 0.85 * 300 * self.record()["duration_ns"] / 1e9)
        self.assertLess(resources["gpu_energy_j"]["last"], 300 * self.wall)
        self.assertIn("power", resources["gpu_energy_j"]["reason"])

    def test_lost_gpu(self):
        record = self.play(self.ONE.replace("energy_w 250", "energy 1000 21000 41000") + "lost 4\n")
        known = [s["gpu_util_percent"] for s in record["samples"]]
        self.assertEqual(known[:2], [40, 40])
        self.assertIsNone(known[-1])
        self.assertEqual(record["resources"]["gpu_energy_j"]["last"], 40)
        self.assertIn("lost", record["resources"]["gpu_util_percent"]["reason"])
        self.assertEqual([n for _, n, *_ in self.calls()].count("util"), 4)  # no more calls to a dead device

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
        for pid in {pid for pid, *_ in self.calls()}:
            self.assertTrue(self.has_ended(pid))

    def test_command_begins_when_the_driver_has_answered(self):
        """Its samples lie beside its events, and it is known as the process that began then."""
        said = os.path.join(self.folder, "began")
        record = self.play(self.ONE + "hang init\n", "sh", "-c", f"date +%s%N > {said}; {PROFTRACE} report --format json")
        with open(said, encoding="ascii") as file:
            began_ns = int(file.read()) - record["start_realtime_ns"]
        self.assertGreater(began_ns, 1e9)
        self.assertAlmostEqual(record["start_ns"] / 1e9, began_ns / 1e9, delta=0.5)
        self.assertEqual(json.loads(self.done.stdout)["stages"][0]["status"], "running")

    def test_switched_off(self):
        self.play(self.ONE, options=("--no-gpu-sampling",))
        self.assertIn("--no-gpu-sampling", self.reason("gpu_util_percent"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "calls")))

    def test_killed_launcher_takes_the_helper_along(self):
        path = os.path.join(self.folder, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.ONE + f"log {self.folder}/calls\n")
        process = self.start_it("sleep", "20", stderr=subprocess.DEVNULL, environment={
            "FAKENVML": path, "LD_LIBRARY_PATH": os.path.join(self.libraries, "new")})
        self.addCleanup(os.kill, self.wait_for_command(process.pid, "sleep"), signal.SIGKILL)
        self.wait_for(lambda: os.path.exists(f"{self.folder}/calls") and self.calls())
        process.kill()
        process.wait()
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
        self.assertGreater(resources["gpu_energy_j"]["last"], 400 * 4)
        self.assertLess(resources["gpu_energy_j"]["last"], 400 * record["duration_ns"] / 1e9 + 400)
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


if __name__ == "__main__":
    unittest.main()
