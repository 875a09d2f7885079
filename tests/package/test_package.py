#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package: what a program says of itself is in the report with the times that it took, and without the library nothing is different."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"])
PACKAGE = ROOT / "preload/python"
sys.path[:0] = [str(PACKAGE), str(HERE.parent / "python")]
os.environ["PROFTRACE_COMMAND"] = str(BUILD / "proftrace")
import proftrace  # noqa: E402
import pythons  # noqa: E402


def environment(**more):
    base = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
    return {**base, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", "PROFTRACE_COMMAND": str(BUILD / "proftrace"), **more}


def play(python, *command, **more):
    return subprocess.run([str(python), *map(str, command)], capture_output=True, text=True, env=environment(**more), timeout=300, check=True).stdout


class Traced(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="package-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def each_python(self, program, check, tries=1):
        """What the program says, and its run, are checked with every CPython that is found."""
        for number, python in enumerate(pythons.found()):
            with self.subTest(str(python)):
                self.play_and_check(python, str(number), program, check, tries)

    def play_and_check(self, python, name, program, check, tries):
        for left in reversed(range(tries)):
            folder = self.folder / f"{name}-{left}"
            said = json.loads(play(python.path, HERE / program, LD_PRELOAD=str(BUILD / "libproftrace.so"), PROFTRACE_DIR=str(folder)))
            try:
                return check(said, proftrace.open(str(folder / "latest")))
            except AssertionError:
                if not left:
                    raise

    def test_what_it_says_is_in_the_report(self):
        """Two clocks, one after the other: another program may have the CPU in between, hardly three times."""
        self.each_python("says.py", self.check_report, tries=3)

    def check_report(self, said, run):
        self.assertTrue(said["active"] and said["traced"])
        ranges = {row["name"]: row for row in run.stages[0].table("ranges")}
        took = said["took"]
        for name, seconds in ("outer", took["outer"] + took["inner"]), ("inner é?", took["inner"]), ("decorated", took["decorated"]), \
                ("in thread", took["in thread"]), ("measured", said["measured"]):
            self.assertAlmostEqual(ranges[name]["total_s"], seconds, delta=0.02 * seconds + 0.002, msg=name)
        self.assertAlmostEqual(ranges["outer"]["self_s"], took["outer"], delta=0.02 * took["outer"] + 0.002)
        self.assertEqual((ranges["outer"]["calls"], ranges["raises"]["calls"]), (10, 1))
        kinds = [event["event"] for event in run.events() if "event" in event]
        self.assertEqual((kinds.count("step"), kinds.count("epoch"), kinds.count("mark"), kinds.count("counter")), (10, 2, 1, 10))

    def test_the_command_beside_the_package(self):
        """As `pip install --target` puts them: it was looked for beside the interpreter, and not found."""
        shutil.copytree(PACKAGE / "proftrace", self.folder / "proftrace")
        (self.folder / "bin").mkdir()
        os.symlink("/bin/true", self.folder / "bin/proftrace")
        said = play(sys.executable, "-c", "from proftrace import command; print(command.find())", PYTHONPATH=str(self.folder), PROFTRACE_COMMAND="")
        self.assertEqual(said.strip(), str(self.folder / "bin/proftrace"))

    def test_the_command_of_the_packages_own_prefix(self):
        """Another installation's beside the interpreter came first: it may be of another version."""
        prefix, other = self.folder / "prefix", self.folder / "other/bin"
        shutil.copytree(PACKAGE / "proftrace", prefix / "share/proftrace/python/proftrace")
        for folder in prefix / "bin", other:
            folder.mkdir(parents=True)
            os.symlink("/bin/true", folder / "proftrace")
        script = f"import sys; sys.executable = {str(other / 'python3')!r}; from proftrace import command; print(command.find())"
        said = play(sys.executable, "-c", script, PYTHONPATH=str(prefix / "share/proftrace/python"), PROFTRACE_COMMAND="")
        self.assertEqual(said.strip(), str(prefix / "bin/proftrace"))

    def test_ranges_within_themselves(self):
        """Each is a call; their time is that of the outermost. However deep they nest, none is left out."""
        program = ("import proftrace\n"
                   "def nest(n):\n    with proftrace.range('nested'):\n        nest(n - 1) if n > 1 else None\n"
                   "with proftrace.range('all'):\n    nest(200)")
        play(sys.executable, "-c", program, LD_PRELOAD=str(BUILD / "libproftrace.so"), PROFTRACE_DIR=str(self.folder))
        rows = {row["name"]: row for row in proftrace.open(str(self.folder / "latest")).stages[0].table("ranges")}
        self.assertEqual((rows["nested"]["calls"], rows["all"]["calls"]), (200, 1))
        self.assertLessEqual(rows["nested"]["total_s"], rows["all"]["total_s"])

    def test_each_mark_is_an_event_with_its_name_at_its_time(self):
        self.each_python("marks.py", self.check_marks)

    def check_marks(self, said, run):
        kinds = {one["event"] for one in said}
        events = [event for event in run.events() if event.get("event") in kinds]
        for thread in {one["thread"] for one in said}:
            mine, theirs = [one for one in said if one["thread"] == thread], [event for event in events if event["tid"] == thread]
            self.assertEqual([self.meaning(one["event"], one["what"]) for one in mine], [self.meaning(*self.told(event)) for event in theirs])
            # One difference between the clocks fits all: each event lies between the times before and after its call.
            least = max(event["start_ns"] - one["after"] for one, event in zip(mine, theirs))
            most = min(event["start_ns"] - one["before"] for one, event in zip(mine, theirs))
            self.assertLess(least, most + 50_000)
        ranges = {row["name"]: row for row in run.stages[0].table("ranges")}
        self.assertEqual({name: row["calls"] for name, row in ranges.items()},
                         {"outer": 6, "inner": 12, "innermost": 6, "worker": 1, "nested": 1, "beside the worker": 1})
        for name, inside in ("outer", ["inner"]), ("inner", ["innermost"]), ("innermost", []), ("worker", ["nested"]):
            self.assertAlmostEqual(ranges[name]["self_s"], ranges[name]["total_s"] - sum(ranges[one]["total_s"] for one in inside), delta=1e-6, msg=name)
        training = run.stages[0].data["training"]
        self.assertEqual((training["steps"], training["epochs"]), (6, 2))

    @staticmethod
    def told(event):
        kind = event["event"]
        return kind, event.get("number") if kind in ("step", "epoch") else [event["name"], event["value"]] if kind == "counter" else event.get("name")

    @staticmethod
    def meaning(kind, what):
        return (kind, None if kind == "range_end" else what)  # an end has no name: it is that of the innermost

    def test_odd_arguments_end_no_program(self):
        text = ("import proftrace\nclass Number:\n    def __int__(self):\n        return 7\nproftrace.step(Number())\nproftrace.step(1.5)\nproftrace.step(-1)\n"
                "proftrace.step(None)\nproftrace.counter('x', None)\nproftrace.counter('y', Number())\nproftrace.mark(3)\nwith proftrace.range(4):\n    pass\nprint('ok')")
        for more in {}, {"LD_PRELOAD": str(BUILD / "libproftrace.so"), "PROFTRACE_DIR": str(self.folder)}:
            self.assertEqual(play(sys.executable, "-c", text, **more), "ok\n")

    def test_without_the_library(self):
        said = json.loads(play(sys.executable, HERE / "says.py"))
        self.assertFalse(said["active"] or said["traced"])
        self.assertAlmostEqual(said["measured"], said["took"]["measured"], delta=0.01)


class Measures(unittest.TestCase):
    def test_parts_on_threads_and_in_parts(self):
        profiler = proftrace.Profiler()
        with profiler.profile("outer"):
            with profiler.profile("inner"):
                sum(range(100000))
        outer, inner = profiler.get_metrics("outer").timing, profiler.get_metrics("inner").timing
        self.assertGreaterEqual(outer.wall_time_s, inner.wall_time_s)
        self.assertAlmostEqual(outer.self_time_s + inner.wall_time_s, outer.wall_time_s, delta=1e-9)

    def test_the_peak_of_a_part(self):
        profiler = proftrace.Profiler(detailed_memory=True, memory_interval=0.005)
        with profiler.profile("small"):
            pass
        with profiler.profile("large"):
            block = bytearray(200 << 20)
            del block
        small, large = profiler.get_metrics("small").memory, profiler.get_metrics("large").memory
        self.assertAlmostEqual(large.peak_ram_mb - small.peak_ram_mb, 200, delta=20)

    def test_unknown_is_nan_with_a_reason(self):
        profiler = proftrace.Profiler(track_gpu=False)
        with profiler.profile("part"):
            pass
        metrics = profiler.get_metrics()
        self.assertTrue(math.isnan(metrics.memory.peak_gpu_mb) and math.isnan(metrics.throughput))
        self.assertEqual(metrics.reasons["memory.peak_gpu_mb"], "track_gpu is off")

    def test_coroutines_and_generators_are_refused(self):
        async def coroutine():
            pass

        def generator():
            yield 1

        for measured in proftrace.range("x"), proftrace.Profiler().profile("x"), proftrace.RequestProfiler().profile_request():
            for function in coroutine, generator:
                with self.assertRaisesRegex(TypeError, "in pieces"):
                    measured(function)

    def test_each_call_of_a_decorated_function_is_a_part(self):
        profiler, requests = proftrace.Profiler(), proftrace.RequestProfiler()

        @profiler.profile("decorated")
        @requests.profile_request()
        def twice(number, less=0):
            """Nested, too."""
            time.sleep(0.01)
            return twice(number - 1) if number else less

        self.assertEqual((twice(2), twice.__doc__), (0, "Nested, too."))
        self.assertEqual(requests.generate_hourly_report()["requests_processed"], 3)
        self.assertGreater(profiler.get_timing_breakdown()["decorated"], 0.03)

    def test_wrong_arguments_are_refused_where_they_are_given(self):
        """Not at the end, in the place of an exception of the program's own."""
        profiler, requests = proftrace.Profiler(), proftrace.RequestProfiler()
        for error, call in [(TypeError, lambda: profiler.profile(["a"])), (TypeError, lambda: profiler.profile("a", samples="x")),
                            (ValueError, lambda: profiler.profile("a", samples=-5)), (TypeError, lambda: proftrace.RequestProfiler(sla_s=None)),
                            (TypeError, lambda: requests.log("x")), (ValueError, lambda: requests.log(-1)),
                            (ValueError, lambda: proftrace.Profiler(memory_interval=-1))]:
            with self.assertRaises(error):
                call()
        with self.assertRaises(KeyError), profiler.profile("a", samples=3.0):
            raise KeyError("the program's own")
        with proftrace.Profiler(detailed_memory=True, memory_interval=1e300).profile("a"):
            time.sleep(0.01)

    def test_a_run_stays_the_same_one(self):
        """When a newer one comes, and when the program goes elsewhere."""
        with tempfile.TemporaryDirectory(prefix="package-") as folder:
            traced = [str(BUILD / "proftrace"), "run", "--no-report", "--"]
            subprocess.run([*traced, "/bin/echo"], cwd=folder, env=environment(PROFTRACE_DIR="runs"), check=True, capture_output=True)
            run = proftrace.open(os.path.relpath(os.path.join(folder, "runs/latest")))
            subprocess.run([*traced, "/bin/sh", "-c", "/bin/echo; /bin/echo"], cwd=folder, env=environment(PROFTRACE_DIR="runs"), check=True, capture_output=True)
            here = os.getcwd()
            os.chdir("/")
            try:
                self.assertEqual(len({event["pid"] for event in run.events() if "pid" in event}), 1)
                os.chdir(folder)
                os.environ["PROFTRACE_DIR"] = "runs"
                self.assertEqual(proftrace.open(run.data["run"]).path, os.path.realpath(run.path))  # by its name alone
            finally:
                os.environ.pop("PROFTRACE_DIR", None)
                os.chdir(here)
            self.assertIn(run.data["run"], run.path)

    def test_a_name_for_each_request_stays_bounded(self):
        profiler = proftrace.Profiler()
        proftrace.profiler.MOST_NAMES, kept = 20, proftrace.profiler.MOST_NAMES
        try:
            for number in range(50):
                with profiler.profile(f"request_{number}"):
                    pass
        finally:
            proftrace.profiler.MOST_NAMES = kept
        self.assertEqual(profiler.get_metrics().name, "request_49")
        self.assertEqual(len(profiler.get_timing_breakdown()), 21)
        with self.assertRaises(KeyError):
            profiler.get_metrics("request_3")

    def test_an_exception_ends_a_part(self):
        profiler = proftrace.Profiler()
        with self.assertRaises(ValueError), profiler.profile("raises"):
            raise ValueError
        self.assertEqual(profiler.get_metrics().name, "raises")


class Pipeline(unittest.TestCase):
    def test_main_of_the_document(self):
        with tempfile.TemporaryDirectory(prefix="package-") as folder:
            config = {"profile": {"stages": [{"stage": "one", "cmd": ["true"]}, {"stage": "two", "cmd": ["false"]}]}}
            text = f"from pipeline_profile.cli import main\nconfig = {config!r}\nimport sys\nsys.exit(main(config))"
            done = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, env=environment(), timeout=100, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)  # a stage failed
            stages = proftrace.open(f"{folder}/proftrace.data/latest").stages
            self.assertEqual([(stage.name, stage.status) for stage in stages], [("one", "ok"), ("two", "failed")])

    def test_errors_say_what_to_do(self):
        with self.assertRaises(proftrace.CommandError) as caught:
            proftrace.open("/no/such/run")
        self.assertEqual(caught.exception.code, 3)
        with self.assertRaisesRegex(KeyError, "no stage 'x'; stages: "):
            proftrace.Run(None, {"stages": [], "findings": [], "processes": [], "quality_metrics": {}, "trace_quality": {}, "total_duration_s": 0}).stage("x")


if __name__ == "__main__":
    unittest.main()
