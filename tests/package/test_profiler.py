#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a Profiler says is true, or it says that it does not know: bounds are called bounds, unknown values have reasons, a report covers the
parts and nothing else; forks do not stop it, and its own reading is no part of a program's trace."""
import dataclasses
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"])
PACKAGE = HERE.parent.parent / "preload/python"
sys.path[:0] = [str(PACKAGE), str(HERE.parent / "python")]
os.environ["PROFTRACE_COMMAND"] = str(BUILD / "proftrace")
import proftrace  # noqa: E402
import proftrace.system  # noqa: E402
import pythons  # noqa: E402


def spend(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def unknown(metrics):
    """Names of all values that are NaN."""
    for field in dataclasses.fields(metrics):
        value = getattr(metrics, field.name)
        for name, one in {f"{field.name}.{key}": one for key, one in vars(value).items()}.items() if dataclasses.is_dataclass(value) else [(field.name, value)]:
            if isinstance(one, float) and math.isnan(one):
                yield name


class Reasons(unittest.TestCase):
    def measure(self, **options):
        profiler = proftrace.Profiler(**options)
        with profiler.profile("part"):
            pass
        return profiler.get_metrics()

    def test_each_unknown_value_has_one(self):
        for options in {}, {"track_network": True, "track_cpu_temp": True, "estimate_flops": True, "detailed_memory": True}, {"track_gpu": False}:
            metrics = self.measure(**options)
            self.assertEqual(set(unknown(metrics)), set(metrics.reasons), options)

    def test_without_proc(self):
        with mock.patch.object(proftrace.system, "_text", lambda path: ""):
            metrics = self.measure(track_network=True)
        self.assertEqual(set(unknown(metrics)), set(metrics.reasons))
        for name in "memory.growth_mb", "system.memory_percent", "system.network_sent_mb", "system.cpu_percent":
            self.assertIn("cannot be read", metrics.reasons[name])

    def test_no_samples_are_a_throughput_of_none(self):
        profiler = proftrace.Profiler()
        with profiler.profile("empty", samples=0):
            spend(0.001)
        self.assertEqual(profiler.get_metrics().throughput, 0)


class Memory(unittest.TestCase):
    """Each in a process of its own: what its peak was before decides."""

    def ask(self, text):
        done = subprocess.run([sys.executable, "-c", "import proftrace, time\n" + text], capture_output=True, text=True, check=False, timeout=100,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        self.assertEqual(done.returncode, 0, done.stderr)
        peak_mb, is_bound = done.stdout.split()
        return float(peak_mb), is_bound == "True"

    def test_a_peak_between_two_samples_is_a_lower_bound(self):
        # The process has been larger; in the part a block comes and goes before the first sample.
        peak_mb, is_bound = self.ask("block = bytearray(300 << 20)\ndel block\nprofiler = proftrace.Profiler(detailed_memory=True, memory_interval=1.5)\n"
                                     "with profiler.profile('part'):\n    block = bytearray(100 << 20)\n    del block\n    time.sleep(0.5)\n"
                                     "memory = profiler.get_metrics().memory\nprint(memory.peak_ram_mb, memory.peak_ram_is_lower_bound)")
        self.assertLess(peak_mb, 100)
        self.assertTrue(is_bound)

    def test_the_kernels_peak_is_exact(self):
        for options in "", "detailed_memory=True":
            peak_mb, is_bound = self.ask(f"profiler = proftrace.Profiler({options})\nwith profiler.profile('part'):\n    block = bytearray(200 << 20)\n    del block\n"
                                         "memory = profiler.get_metrics().memory\nprint(memory.peak_ram_mb, memory.peak_ram_is_lower_bound)")
            self.assertGreater(peak_mb, 200)
            self.assertFalse(is_bound)


class Gpu(unittest.TestCase):
    """With a stand-in for PyTorch on a machine with two GPUs, of which one is used."""

    def setUp(self):
        self.readings = [0, 100, 50, 90]
        self.peak_mb = 100
        cuda = types.SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True, device_count=lambda: 2, utilization=self.utilization,
                                     memory_allocated=lambda i: 50 << 20 if i == 0 else 0, max_memory_allocated=lambda i: self.peak_mb << 20 if i == 0 else 0,
                                     memory_reserved=lambda i: 64 << 20 if i == 0 else 0, mem_get_info=lambda i: (1 << 30, 4 << 30))
        patch = mock.patch.dict(sys.modules, torch=types.SimpleNamespace(cuda=cuda, version=types.SimpleNamespace(cuda="12.4")))
        patch.start()
        self.addCleanup(patch.stop)

    def utilization(self, device):
        """The last reading is that at the end of the part: until then there is none more."""
        self.assertEqual(device, 0)
        if len(self.readings) == 1 and threading.current_thread() is not threading.main_thread():
            raise RuntimeError("not now")
        return self.readings.pop(0)

    def test_utilization_is_the_mean_of_readings(self):
        profiler = proftrace.Profiler(system_interval=0.02)
        with profiler.profile("part"):
            while len(self.readings) > 1:
                time.sleep(0.001)
        compute = profiler.get_metrics().compute
        self.assertEqual((compute.gpu_utilization_percent, compute.gpu_utilization_readings), (60, 4))

    def test_a_short_part_has_one_reading_and_says_so(self):
        profiler = proftrace.Profiler()
        with profiler.profile("part"):
            pass
        compute = profiler.get_metrics().compute
        self.assertEqual((compute.gpu_utilization_percent, compute.gpu_utilization_readings), (0, 1))

    def test_the_peak_of_a_part_below_that_of_the_program(self):
        profiler = proftrace.Profiler()
        with profiler.profile("part"):
            pass
        memory = profiler.get_metrics().memory
        self.assertEqual((memory.peak_gpu_mb, memory.peak_gpu_is_lower_bound), (50, True))
        with profiler.profile("part"):
            self.peak_mb = 300
        memory = profiler.get_metrics().memory
        self.assertEqual((memory.peak_gpu_mb, memory.peak_gpu_is_lower_bound), (300, False))

    def test_a_gpu_that_is_not_used_yet_is_left_alone(self):
        sys.modules["torch"].cuda.is_initialized = lambda: False
        sys.modules["torch"].cuda.is_available = lambda: self.fail("this loads the driver")
        self.assertTrue(math.isnan(proftrace.Profiler().get_current_gpu_memory()))


class System(unittest.TestCase):
    """The machine is a stand-in: idle until a part begins, then busy."""

    def setUp(self):
        self.busy = self.all = 0
        patch = mock.patch.object(proftrace.system, "_text", self.text)
        patch.start()
        self.addCleanup(patch.stop)

    def text(self, path):
        if path == "/proc/stat":
            return f"cpu {self.busy} 0 0 {self.all - self.busy} 0 0 0 0 0 0\n"
        return "MemTotal: 1000 kB\nMemAvailable: 250 kB\n" if path == "/proc/meminfo" else ""

    def later(self, ticks, busy):
        self.all, self.busy = self.all + ticks, self.busy + busy

    def test_idle_time_before_a_part_is_none_of_it(self):
        profiler = proftrace.Profiler(track_system=True, system_interval=0.05)
        self.later(100000, 0)
        with profiler.profile("part"):
            for _ in range(20):
                time.sleep(0.01)
                self.later(100, 80)
        self.later(100000, 0)
        with profiler.profile("part"):
            time.sleep(0.03)
            self.later(100, 80)
        report = profiler.get_system_report()
        self.assertAlmostEqual(report.avg_cpu_percent, 80, delta=0.01)
        self.assertEqual(report.peak_memory_percent, 75)
        self.assertGreaterEqual(report.samples, 3)

    def test_a_part_shorter_than_the_interval_is_in_it(self):
        profiler = proftrace.Profiler(track_system=True, system_interval=60)
        self.later(100000, 0)
        with profiler.profile("part"):
            self.later(100, 30)
        report = profiler.get_system_report()
        self.assertEqual((report.samples, round(report.avg_cpu_percent)), (1, 30))

    def test_samples_weigh_what_they_lasted(self):
        profiler = proftrace.Profiler(track_system=True)
        profiler._report.add(9.0, 100.0, 50.0, math.nan)
        profiler._report.add(1.0, 0.0, 60.0, 40.0)
        profiler._report.add(1.0, math.nan, math.nan, math.nan)
        self.assertEqual(profiler.get_system_report(), proftrace.SystemReport(90.0, 60.0, 40.0, 3))


class Starts(unittest.TestCase):
    def test_a_part_that_could_not_begin_is_not_open(self):
        def interrupted(_):
            raise KeyboardInterrupt

        profiler = proftrace.Profiler(estimate_flops=True, track_system=True)
        with mock.patch.object(proftrace.profiler.Flops, "start", interrupted), self.assertRaises(KeyboardInterrupt), profiler.profile("first"):
            self.fail("it does not run")
        self.assertEqual([thread for thread in threading.enumerate() if thread.name == "proftrace" and not self.ends(thread)], [])
        with profiler.profile("second"):
            pass
        self.assertNotEqual(profiler.get_metrics("second").reasons["compute.estimated_flops"], "an outer part counts")

    @staticmethod
    def ends(thread):
        thread.join(10)
        return not thread.is_alive()


class Handlers(unittest.TestCase):
    def test_one_that_measures_may_interrupt_us_anywhere(self):
        text = ("import signal, time, proftrace, proftrace.requests\nprofiler, requests = proftrace.Profiler(track_system=True), proftrace.RequestProfiler()\n"
                "def late(*_):\n    use()\n    signal.setitimer(signal.ITIMER_REAL, 0.0003)\n"
                "def use():\n    with profiler.profile('part'), requests.profile_request():\n        pass\n    requests.generate_hourly_report()\n"
                "signal.signal(signal.SIGALRM, late)\nsignal.setitimer(signal.ITIMER_REAL, 0.0003)\nend = time.monotonic() + 3\n"
                "while time.monotonic() < end:\n    use()\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nprint('done')")
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=100, env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)

    def test_a_lock_that_the_thread_holds(self):
        profiler, requests = proftrace.Profiler(track_system=True), proftrace.RequestProfiler()

        def handle():
            with profiler._lock, requests._lock, profiler.profile("part"):
                requests.log(1)

        thread = threading.Thread(target=handle, daemon=True)
        thread.start()
        thread.join(10)
        self.assertFalse(thread.is_alive())


class Forks(unittest.TestCase):
    def test_locks_that_others_held(self):
        for python in pythons.some():
            with self.subTest(str(python)):
                done = subprocess.run([python.path, "-W", "ignore", HERE / "forks.py"], capture_output=True, text=True, timeout=60, check=False,
                                      env={**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"})
                self.assertEqual(done.stdout.splitlines(), ["child in the child 1 1", "and of the parent 1", "ended with 0"], done.stderr)


class OwnReading(unittest.TestCase):
    def test_it_is_no_part_of_the_programs_trace(self):
        text = ("import proftrace\nprofiler = proftrace.Profiler(detailed_memory=True, memory_interval=0.005, track_system=True, system_interval=0.005, track_network=True,"
                "track_cpu_temp=True)\nimport time\nwith profiler.profile('part'):\n    time.sleep(0.05)\nprofiler.get_system_report(), profiler.get_current_system_stats()\n"
                "m = profiler.get_metrics()\nprint(m.is_traced, m.memory.peak_ram_mb > 1, 0 < m.system.memory_percent < 100, m.reasons.get('system.network_sent_mb'))\n"
                "open('/proc/self/limits').close()")
        with tempfile.TemporaryDirectory(prefix="package-") as folder:
            environment = {**pythons.clean_environment(), "PYTHONPATH": str(PACKAGE), "LD_PRELOAD": str(BUILD / "libproftrace.so"), "PROFTRACE_DIR": f"{folder}/data"}
            done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True, env=environment)
            self.assertEqual(done.stdout, "True True True None\n")
            events = list(proftrace.open(f"{folder}/data/latest").events())
        seen = {word for event in events for word in map(str, event.values()) if word.startswith(("/proc/", "/sys/"))}
        self.assertEqual({path for path in seen if not path.startswith(("/proc/self/limits", "/proc/self/cgroup", "/sys/fs"))}, set())
        self.assertIn("/proc/self/limits", seen)


class Requests(unittest.TestCase):
    def test_percentiles_are_those_of_numpy_and_statistics(self):
        try:
            import numpy
        except ImportError:
            numpy = None
        for n in 1, 2, 3, 10, 99, 100, 101, 1000:
            latencies = [((i * 7919) % n + 1) / 100 for i in range(n)]
            requests = proftrace.RequestProfiler(sla_s=0.5)
            for latency_s in latencies:
                requests.log(latency_s)
            report = requests.generate_hourly_report()
            self.assertEqual(report["requests_processed"], n)
            self.assertAlmostEqual(report["average_latency"], statistics.fmean(latencies))
            self.assertEqual(report["max_latency"], max(latencies))
            self.assertEqual(report["sla_violations"], sum(one > 0.5 for one in latencies))
            self.assertEqual(report["p50_latency"], statistics.median_low(latencies))
            if n > 1:  # between cut points a nearest rank is at most one value away
                cuts, ordered = statistics.quantiles(latencies, n=100, method="inclusive"), sorted(latencies)
                for percent in 95, 99:
                    at = ordered.index(report[f"p{percent}_latency"])
                    self.assertTrue(ordered[max(0, at - 1)] <= cuts[percent - 1] <= ordered[min(n - 1, at + 1)], (n, percent))
            if numpy and hasattr(numpy, "percentile"):
                for percent in 50, 95, 99:
                    self.assertEqual(report[f"p{percent}_latency"], numpy.percentile(latencies, percent, method="inverted_cdf"), (n, percent))

    def test_the_hourly_report_is_of_the_last_hour(self):
        requests = proftrace.RequestProfiler(sla_s=1.0)
        with mock.patch("proftrace.requests.time.monotonic") as now:
            for minute in range(180):  # one a minute, the later the slower
                now.return_value = minute * 60.0
                requests.log(minute / 100)
            now.return_value = 179 * 60.0 + 1
            hour, half, day = (requests.generate_hourly_report(hours) for hours in (1, 0.5, 24))
        self.assertEqual([one["requests_processed"] for one in (hour, half, day)], [60, 30, 180])
        self.assertEqual([one["sla_violations"] for one in (hour, half, day)], [60, 30, 79])
        self.assertEqual((hour["p50_latency"], hour["max_latency"]), (1.49, 1.79))

    def test_at_a_promise_is_kept(self):
        requests = proftrace.RequestProfiler(sla_s=0.5)
        requests.log(0.5)
        self.assertEqual(requests.generate_hourly_report()["sla_violations"], 0)

    def test_none_is_unknown(self):
        report = proftrace.RequestProfiler().generate_hourly_report()
        self.assertEqual((report["requests_processed"], report["sla_violations"]), (0, 0))
        self.assertTrue(all(math.isnan(report[name]) for name in report if name.endswith("latency")))

    def test_on_many_threads(self):
        requests = proftrace.RequestProfiler(sla_s=0.0)

        def serve(worker):
            for number in range(100):
                try:
                    with requests.profile_request(f"{worker}/{number}"):
                        if number % 10 == 0:
                            raise ValueError
                except ValueError:
                    pass

        threads = [threading.Thread(target=serve, args=(worker,)) for worker in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        report = requests.generate_hourly_report()
        self.assertEqual((report["requests_processed"], report["sla_violations"]), (800, 800))
        self.assertEqual(len({name for _, name in requests.slowest(1000)}), 800)

    def test_one_object_on_many_threads(self):
        """Who came first leaves first: each ends its own."""
        requests = proftrace.RequestProfiler()
        timed = requests.profile_request("shared")
        both, first_left = threading.Barrier(2), threading.Event()

        def first():
            with timed:
                time.sleep(0.2)
                both.wait()
                time.sleep(0.05)
            first_left.set()

        thread = threading.Thread(target=first)
        thread.start()
        both.wait()
        with timed:
            first_left.wait(10)
            time.sleep(0.2)
        thread.join()
        self.assertGreaterEqual(requests.slowest(2)[1][0], 0.2)

    def test_it_may_end_on_another_thread(self):
        requests = proftrace.RequestProfiler()
        timed = requests.profile_request("handed over")
        timed.__enter__()
        thread = threading.Thread(target=timed.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
        self.assertEqual(requests.generate_hourly_report()["requests_processed"], 1)


if __name__ == "__main__":
    unittest.main()
