#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""PROFTRACE_WINDOW: the steps that were asked for are in a trace of torch.profiler, what the report says of it is what torch.profiler says, and the
program does not notice."""
import collections
import glob
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import traced

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "preload/python"))
from proftrace.trace import read_trace  # noqa: E402

VERSION = traced.skip_without_torch()
HAS_KINETO = subprocess.run([traced.PYTHON, "-c", "import torch; raise SystemExit(not torch.profiler.kineto_available())"], check=False).returncode == 0
PROFTRACE = traced.BUILD / "proftrace"


class Run:
    """windowed.py under the library: its end, its report, and the traces of its windows by their names."""

    def __init__(self, folder, window, *wanted, program="windowed.py", **more):
        self.folder = folder
        self.status, self.out, self.err = traced.play(program, *wanted, LD_PRELOAD=str(traced.BUILD / "libproftrace.so"), PROFTRACE_DIR=folder,
                                                      PROFTRACE_WINDOW=window, **more)
        self.path = f"{folder}/latest"
        self.files = sorted(glob.glob(f"{folder}/latest/torch/*/*"))
        self.names = [os.path.basename(file) for file in self.files]

    def stage(self):
        done = subprocess.run([PROFTRACE, "report", self.path, "--format", "json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["stages"][0]

    def phases(self):
        text = subprocess.run([PROFTRACE, "dump", self.path], capture_output=True, text=True, check=True).stdout
        return [phase for phase in traced.phases_in(text)[0] if phase.name == "profiler"]


def events_in(file):
    with open(file, encoding="utf-8") as text:
        read = json.load(text)
    return read["traceEvents"] if isinstance(read, dict) else read


# What a range of the program's (windowed.py) or of PyTorch's own says: in which phase of ours its operators are.
PHASE_OF = {"own:forward": "forward", "own:backward": "backward", "enumerate(DataLoader)": "data_wait", "Optimizer.step": "optimizer_step"}


INFINITE = """
from torch.utils.data import DataLoader

class _RepeatSampler:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)

class InfiniteDataLoader(DataLoader):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        object.__setattr__(self, "batch_sampler", _RepeatSampler(self.batch_sampler))
        self.iterator = super().__iter__()

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)
"""


class Tracks:
    """The slices of a timeline by their threads."""

    def __init__(self, events):
        self.names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event.get("name") == "thread_name"}
        self.slices = collections.defaultdict(list)
        for event in events:
            if event.get("ph") == "X":
                self.slices[self.names.get((event["pid"], event["tid"]))].append(event)

    def of_operators(self):
        """(thread, operators on it)"""
        return [(name[:-len(" (operators)")], slices) for name, slices in self.slices.items() if name and name.endswith(" (operators)")]

    def phases(self, thread, phase):
        return [(event["ts"], event["ts"] + event["dur"]) for event in self.slices[thread] if event["name"] == phase]


def of_phases(operators):
    """(phase, operator) of each outermost aten:: within a range that names one."""
    phase, until, covered = None, 0, 0
    for event in sorted(operators, key=lambda event: (event["ts"], -event["dur"])):
        end = event["ts"] + event["dur"]
        named = PHASE_OF.get(event["name"].partition("#")[0])
        if named:
            phase, until, covered = named, end, 0
        elif event["name"].startswith("aten::") and event["ts"] < until and event["ts"] >= covered:
            covered = end
            yield phase, event


class Windows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alone = traced.play("windowed.py")

    def run_one(self, window, *wanted, **more):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Run(folder.name, window, *wanted, **more)

    def assert_unnoticed(self, run):
        self.assertEqual((run.status, run.out, run.err), self.alone)

    def windows_of(self, run):
        return [(row["window"], row["steps"]) for row in run.stage().get("profiler_windows", [])]

    def test_the_steps_that_were_asked_for(self):
        run = self.run_one("skip_first=4,wait=2,warmup=1,active=3,repeat=2")
        self.assert_unnoticed(run)
        # 4 are skipped, 2 waited for, 1 warms up; then 3, and again 2 and 1 before them
        self.assertEqual(self.windows_of(run), [("steps 8 to 10", 3), ("steps 14 to 16", 3)])
        self.assertTrue(all(name.endswith(".pt.trace.json") for name in run.names), run.names)
        self.assertEqual({os.path.basename(os.path.dirname(file)) for file in run.files}, {"Net"})
        self.assertEqual([phase.label for phase in run.phases()], ["start", "write"] * 2)

    def test_every_n_steps(self):
        run = self.run_one("every_n_steps=10,active=1,plain_names")
        self.assert_unnoticed(run)
        self.assertEqual(run.names, ["train_step_10.json", "train_step_20.json", "train_step_30.json"])
        self.assertEqual(self.windows_of(run), [("step 10", 1), ("step 20", 1), ("step 30", 1)])

    def test_windows_without_a_pause_between_them(self):
        run = self.run_one("active=2,warmup=0,repeat=3")
        self.assert_unnoticed(run)
        self.assertEqual(self.windows_of(run), [("steps 2 to 3", 2), ("steps 4 to 5", 2), ("steps 6 to 7", 2)])

    def numbers_in(self, file):
        """The steps whose beginning was recorded, by the program's own count."""
        return sorted({int(event["name"].split(":")[1]) for event in events_in(file) if event["name"].startswith("number:")})

    def test_steps_have_the_numbers_that_the_program_counts(self):
        run = self.run_one("every_n_steps=10,active=2,plain_names", "numbers")
        self.assertEqual([self.numbers_in(file) for file in run.files], [[10, 11], [20, 21], [30]])
        self.assertEqual(self.windows_of(run), [("steps 10 to 11", 2), ("steps 20 to 21", 2), ("step 30", 1)])
        self.assertEqual(run.names, ["train_step_10.json", "train_step_20.json", "train_step_30.json"])

    def test_a_step_of_many_optimizers_is_one(self):
        run = self.run_one("every_n_steps=10,active=2", "numbers", "one_each")
        self.assertEqual([self.numbers_in(file) for file in run.files], [[10, 11], [20, 21], [30]])

    def test_a_step_that_fails_is_none(self):
        run = self.run_one("skip_first=3,active=10", "numbers", "fails")
        self.assertIn("KeyError: 'within a step'", run.err)
        self.assertEqual(self.numbers_in(run.files[0]), [5, 6, 7])  # the last one begins, and does not end
        self.assertEqual(self.windows_of(run), [("steps 5 to 6", 2)])

    def test_steps_that_the_program_marks(self):
        """Two of the optimizer's make one of the program's, whichever is imported first."""
        for order in "marks", "marks_before":
            with self.subTest(order):
                run = self.run_one("skip_first=2,active=3,with_flops", "numbers", order)
                self.assertEqual(run.status, 0, run.err)
                self.assertEqual(self.windows_of(run), [("steps 4 to 6", 3)])
                self.assertEqual(self.numbers_in(run.files[0]), [7, 8, 9, 10, 11, 12])
                if HAS_KINETO:
                    self.assertGreater(run.stage()["profiler_windows"][0]["flops_per_parameter"], 0)

    def test_validations_with_a_loss(self):
        """A loss is a module, too: always in training mode, and never what is trained."""
        run = self.run_one("validation,repeat=0")
        self.assert_unnoticed(run)
        self.assertEqual([window for window, _ in self.windows_of(run)], [f"validation after step {step}" for step in (10, 20, 30)])
        self.assertEqual({os.path.basename(os.path.dirname(file)) for file in run.files}, {"Net"})

    def test_frozen_models_beside_the_one_that_is_trained(self):
        """A teacher and a loss by features are in evaluation mode in each step: no validation, and no name of a folder."""
        run = self.run_one("active=1,warmup=0,wait=8,repeat=3,validation", "frozen")
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertEqual([window for window, _ in self.windows_of(run)],
                         ["step 9", "validation after step 10", "step 18", "validation after step 20", "step 27", "validation after step 30"])
        self.assertEqual({os.path.basename(os.path.dirname(file)) for file in run.files}, {"Net"})

    def test_validations_of_another_model_than_the_trained_one(self):
        run = self.run_one("validation,repeat=0", "mean", "frozen")
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertEqual([window for window, _ in self.windows_of(run)], [f"validation after step {step}" for step in (10, 20, 30)])
        self.assertEqual({os.path.basename(os.path.dirname(file)) for file in run.files}, {"Mean"})

    def test_validations_take_no_windows_of_steps(self):
        """Each kind is repeated as often as was asked for."""
        run = self.run_one("active=1,warmup=0,wait=8,repeat=3,validation")
        self.assert_unnoticed(run)
        self.assertEqual([window for window, _ in self.windows_of(run)],
                         ["step 9", "validation after step 10", "step 18", "validation after step 20", "step 27", "validation after step 30"])

    def test_chosen_epochs_and_the_first_batch_of_validations(self):
        run = self.run_one("epochs=1,3,active=2,validation,repeat=0,plain_names")
        self.assert_unnoticed(run)
        self.assertEqual(run.names, ["epoch_1.json", "epoch_3.json", "validation_step_10.json", "validation_step_20.json", "validation_step_30.json"])
        self.assertEqual([window for window, _ in self.windows_of(run)],
                         ["epoch 1, steps 3 to 4", "validation after step 10", "validation after step 20", "epoch 3, steps 23 to 24", "validation after step 30"])
        # Of each epoch the ten operators that took longest; which those are is luck, for a training as small as this one.
        self.assertEqual(collections.Counter(row["epoch"] for row in run.stage()["operator_epochs"]), {1: 10, 3: 10})

    def test_epochs_of_a_loader_that_never_ends(self):
        """As in ultralytics, which reads one iterator for as many batches as an epoch has."""
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "ultralytics/data")
            package.mkdir(parents=True)
            for file, text in (("../__init__.py", ""), ("__init__.py", ""), ("build.py", INFINITE)):
                (package / file).write_text(text, encoding="utf-8")
            run = self.run_one("epochs=1,3,active=2,repeat=0", "infinite", PYTHONPATH=folder)
        self.assert_unnoticed(run)
        self.assertEqual([window for window, _ in self.windows_of(run)], ["epoch 1, steps 3 to 4", "epoch 3, steps 23 to 24"])

    def test_epochs_of_a_loader_that_starts_in_its_own_way(self):
        run = self.run_one("epochs=2,active=2", "own_iter")
        self.assert_unnoticed(run)
        self.assertEqual([window for window, _ in self.windows_of(run)], ["epoch 2, steps 13 to 14"])

    def test_epochs_of_a_loader_that_reads_ahead(self):
        """As accelerate's: an evaluation comes between what it read last and the last step."""
        run = self.run_one("epochs=1,2,3,active=2", "ahead")
        self.assertEqual((run.status, run.out, run.err), traced.play("windowed.py", "ahead"))
        self.assertEqual([window for window, _ in self.windows_of(run)], ["epoch 1, steps 3 to 4", "epoch 2, steps 13 to 14", "epoch 3, steps 23 to 24"])

    def test_epochs_of_loaders_that_take_turns(self):
        for how in "in_turn", "two_of_one":
            with self.subTest(how):
                run = self.run_one("epochs=1,2,3,active=2", how)
                self.assertEqual((run.status, run.out, run.err), traced.play("windowed.py", how))
                self.assertEqual([window for window, _ in self.windows_of(run)], ["epoch 1, steps 3 to 4", "epoch 2, steps 13 to 14", "epoch 3, steps 23 to 24"])

    def test_epochs_whose_workers_are_started_early(self):
        run = self.run_one("epochs=1,2,3,active=2", "warm")
        self.assertEqual((run.status, run.out, run.err), traced.play("windowed.py", "warm"))
        self.assertEqual([window for window, _ in self.windows_of(run)], ["epoch 1, steps 3 to 4", "epoch 2, steps 13 to 14", "epoch 3, steps 23 to 24"])

    def test_steps_of_optimizers_that_follow_each_other(self):
        """Ten steps each: the second takes over from the first in the end, and the training goes on."""
        run = self.run_one("skip_first=11,active=2", "trials")
        self.assertEqual((run.status, run.out, run.err), traced.play("windowed.py", "trials"))
        self.assertEqual([window for window, _ in self.windows_of(run)], ["steps 13 to 14"])

    def test_the_table_is_that_of_torch(self):
        """Calls and FLOPs are equal, times to the microsecond in which each event was written."""
        run = self.run_one("skip_first=3,active=4,record_shapes,with_flops,peak_gflops=1000", "table")
        self.assert_unnoticed(run)
        (table,) = [file for file in run.files if file.endswith(".table")]
        with open(table, encoding="utf-8") as file:
            own = {name: row for name, *row in json.load(file) if not name.startswith(("ProfilerStep", "ptsync:"))}
        stage = run.stage()
        ours = {row["operator"]: row for row in stage["operators"]}
        self.assertGreaterEqual(len(ours), 40)
        for name, row in ours.items():
            calls, self_us, total_us, flops = own[name]
            with self.subTest(name):
                self.assertEqual(row["calls"], calls)
                self.assertAlmostEqual(row["total_s"] * 1e6, total_us, delta=max(1, 1.01 * calls))
                if HAS_KINETO:  # others write whole microseconds: what is inside what is lost there
                    self.assertAlmostEqual(row["self_s"] * 1e6, self_us, delta=max(1, 1.01 * calls))
                if HAS_KINETO and flops:
                    self.assertEqual(row["flops"], flops)
        (window,) = stage["profiler_windows"]
        if HAS_KINETO:
            self.assertGreater(sum(row["flops"] is not None for row in ours.values()), 2)
            # Its table leaves out the backward of the convolution: 8 x 8 numbers in 8 channels of 8 images, each of 3 x 3 weights of 3 channels.
            self.assertEqual(ours["aten::convolution_backward"]["flops"], 4 * 2 * 8 * 8 * 8 * 8 * 3 * 3 * 3)
            all_flops = sum(row[3] for row in own.values()) + ours["aten::convolution_backward"]["flops"]
            self.assertAlmostEqual(window["flops_per_step"], all_flops / 4, delta=1)
            parameters = 3 * 8 * 9 + 8 + 512 * 10 + 10
            self.assertAlmostEqual(window["flops_per_parameter"], all_flops / 4 / parameters, delta=1e-6 * all_flops)
            self.assertAlmostEqual(window["flops_utilization_percent"], window["flops_per_s"] / 1e12 * 100, delta=0.0006)  # percents have three digits
        else:
            self.assertIsNone(window["flops_per_step"])

    def test_memory_and_shapes(self):
        run = self.run_one("skip_first=3,active=2,record_shapes,profile_memory")
        stage = run.stage()
        if not HAS_KINETO:
            self.assertEqual({row["peak_bytes"] for row in stage["operators"]}, {None})
            return
        rows = {row["operator"]: row for row in stage["operators"]}
        taken = [event["args"]["Bytes"] for event in events_in(run.files[0]) if event["name"] == "[memory]" and event["args"]["Device Type"] == 0]
        held = max(event["args"]["Total Allocated"] for event in events_in(run.files[0]) if event["name"] == "[memory]")
        self.assertGreater(len(taken), 20)
        self.assertLessEqual(max(row["peak_bytes"] or 0 for row in rows.values()), held)
        self.assertGreater(rows["aten::empty"]["self_bytes"], 0)
        shapes = {(row["operator"], row["shapes"]) for row in stage["operator_shapes"]}
        self.assertIn(("aten::conv2d", "[[8,3,16,16],[8,3,3,3],[8],[],[],[],[]]"), shapes)

    def test_calls_are_exact(self):
        run = self.run_one("skip_first=3,warmup=0,active=2,calls")
        self.assert_unnoticed(run)
        (stats,) = [file for file in run.files if file.endswith(".stats")]
        done = subprocess.run([traced.PYTHON, "-m", "pstats", stats], input="stats forward\n", capture_output=True, text=True, check=True)
        (line,) = [line for line in done.stdout.splitlines() if "windowed.py" in line and "(forward)" in line]
        self.assertEqual(line.split()[0], "2")

    def test_counters_of_calls_of_its_own_come_first(self):
        """What the program counts is whole, and ours says what it counted before."""
        for own, problems in (("counts_itself", ["calls ended early: the program counts them itself"]), ("sets_profile", [])):
            with self.subTest(own):
                run = self.run_one("skip_first=3,warmup=0,active=5,calls", own)
                self.assertEqual((run.status, run.out, run.err), traced.play("windowed.py", own))
                self.assertIn("\nforward ", "\n" + run.out)
                (stats,) = [file for file in run.files if file.endswith(".stats")]
                done = subprocess.run([traced.PYTHON, "-m", "pstats", stats], input="stats forward\n", capture_output=True, text=True, check=True)
                (line,) = [line for line in done.stdout.splitlines() if "windowed.py" in line and "(forward)" in line]
                self.assertEqual(line.split()[0], "3")
                self.assertEqual([phase.label for phase in run.phases() if phase.label not in ("start", "write")], problems)

    def test_a_counter_of_calls_in_another_thread_is_that_threads(self):
        run = self.run_one("skip_first=3,warmup=0,active=5,calls", "counts_in_a_thread")
        self.assertEqual((run.status, run.out, run.err), traced.play("windowed.py", "counts_in_a_thread"))
        self.assertIn("left on None", run.out)

    def test_a_profiler_of_its_own_comes_first(self):
        """It starts within a window, which ends; while it is on, none begins; what it counts is what it counts alone."""
        alone = traced.play("windowed.py", "profiles_itself")
        self.assertNotEqual(alone[1].splitlines()[-1], "[]")
        run = self.run_one("skip_first=8,active=100,repeat=2", "profiles_itself")
        self.assertEqual(run.status, 0)
        *lines, counts = run.out.splitlines()
        *lines_alone, counts_alone = alone[1].splitlines()
        self.assertEqual(lines, lines_alone)
        calls, calls_alone = dict(json.loads(counts)), dict(json.loads(counts_alone))
        self.assertEqual(calls.keys(), calls_alone.keys())
        # on a busy machine one operator at an edge may be in one of both runs only
        self.assertLessEqual(sum(abs(calls[name] - calls_alone[name]) for name in calls), 1)
        problems = [row["problem"] for row in run.stage()["profiler_windows"] if row["problem"]]
        self.assertEqual(problems, ["ended early: the program profiles itself", "none: the program profiles itself"])
        self.assertEqual(len(run.files), 2)
        for file in run.files:
            self.assertTrue(events_in(file))

    def test_a_program_that_ends_within_a_window(self):
        run = self.run_one("skip_first=4,active=100", "ends")
        self.assertEqual((run.status, run.err), (3, ""))
        self.assertEqual(self.windows_of(run), [("steps 6 to 8", 3)])

    def test_why_there_is_no_window(self):
        """What was asked for never came: the report says what came instead."""
        for window, wanted, problem in (
                ("skip_first=100", (), "none: the training ended after 30 steps; the first window begins after 100"),
                ("every_n_steps=40,active=1,warmup=0", (), "none: the training ended after 30 steps; the first window begins after 39"),
                ("epochs=7", (), "none: the training ended in epoch 3, after 30 steps"),
                ("validation", ("ends",), "none: no model was evaluated after a step of the training; it made 8"),
                ("active=2", ("looks",), "none: the program made no step of an optimizer, and did not say where its steps begin")):
            with self.subTest(window=window):
                run = self.run_one(window, *wanted)
                self.assertEqual(run.err, "")
                self.assertEqual([(row["problem"], row["steps"]) for row in run.stage()["profiler_windows"]], [(problem, None)])
        self.assertNotIn("profiler_windows", self.run_one("active=2", "looks", RANK="1").stage())  # it was not asked for

    def test_a_program_that_is_killed_within_a_window(self):
        """The window is lost, and nothing else."""
        run = self.run_one("skip_first=4,active=100", "dies")
        self.assertEqual((run.status, run.files), (-9, []))
        phases = subprocess.run([PROFTRACE, "dump", run.path], capture_output=True, text=True, check=True).stdout
        self.assertEqual(traced.counts(traced.phases_in(phases)[0])["optimizer_step"], 8)

    def test_a_child_that_is_forked_within_a_window(self):
        run = self.run_one("skip_first=4,active=10", "forks")
        self.assert_unnoticed(run)
        self.assertEqual(self.windows_of(run), [("steps 6 to 15", 10)])

    def test_of_several_ranks_one(self):
        """By whatever started them. What is alone is profiled, also where a cluster numbers it."""
        for variables, n_files in (({"RANK": "1"}, 0), ({"LOCAL_RANK": "1"}, 0), ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}, 0),
                                   ({"OMPI_COMM_WORLD_RANK": "1"}, 0), ({"PMI_RANK": "1", "RANK": "0"}, 1),
                                   ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"}, 1), ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "1"}, 1)):
            with self.subTest(variables):
                run = self.run_one("active=2", **variables)
                self.assertEqual((run.status, len(run.files)), (0, n_files))
        self.assertEqual(len(self.run_one("active=2,all_ranks", RANK="1").files), 1)

    def test_of_spawned_ranks_one(self):
        """Their number is an argument of init_process_group, and in no environment."""
        for window, n_files in ("active=2", 1), ("active=2,all_ranks", 2):
            with self.subTest(window), tempfile.TemporaryDirectory() as store:
                run = self.run_one(window, f"{store}/store", program="windowed_ranks.py")
                self.assertEqual((run.status, len(run.files)), (0, n_files), run.err)

    def test_operators_lie_in_our_phases(self):
        """What the program and PyTorch say themselves to torch.profiler tells to which phase an operator belongs: on one timeline each outermost
        one of these is inside ours of that name, on its thread. Other programs may take the CPU between what is said and what is done: what does
        not hold is measured twice more."""
        for _ in range(2):
            try:
                return self.check_operators_in_phases()
            except AssertionError as why:
                print(f"once more: {why}", file=sys.stderr)
        return self.check_operators_in_phases()

    def check_operators_in_phases(self):
        run = self.run_one("skip_first=3,active=8,record_shapes", "ranges")
        self.assertEqual(run.status, 0, run.err)
        for form in "chrome", "perfetto":
            subprocess.run([PROFTRACE, "export", run.path, "--to", form, "-o", f"{run.folder}/trace.{form}"], capture_output=True, check=True)
        tracks = Tracks(events_in(f"{run.folder}/trace.chrome"))
        found = collections.Counter()
        for thread, operators in tracks.of_operators():
            for phase, operator in of_phases(operators):
                found[phase] += 1
                self.assertTrue(any(begin - 150 < operator["ts"] and operator["ts"] + operator["dur"] < end + 150 for begin, end in tracks.phases(thread, phase)),
                                f"{operator} is in no {phase} of ours")
        # In each of 8 steps: a batch of 8 images and labels; a convolution, what follows it, a linear layer; their backward; 4 parameters.
        for phase, least in ("data_wait", 16), ("forward", 4), ("backward", 4), ("optimizer_step", 1):
            self.assertGreaterEqual(found[phase], 8 * least, found)
        if HAS_KINETO:  # others write whole microseconds: what is inside what is lost there
            self.assertEqual((found["forward"] % 8, found["backward"] % 8), (0, 0), found)
        (operators,) = [operators for _, operators in tracks.of_operators()]
        (window,) = run.stage()["profiler_windows"]
        self.assertEqual(len([event for event in operators if not event["name"].startswith("ProfilerStep")]), window["operators"])
        self.assertTrue(any(event.get("args", {}).get("shapes") for event in operators) or not HAS_KINETO)

    def test_with_stack(self):
        """Python's functions are in the trace beside the operators, whose calls remain what they are."""
        run, bare = (self.run_one(f"skip_first=3,active=2{more}") for more in (",with_stack", ""))
        self.assert_unnoticed(run)
        calls, without = ({row["operator"]: row["calls"] for row in one.stage()["operators"] if row["operator"].startswith("aten::")} for one in (run, bare))
        for one, seen in ((run, calls), (bare, without)):
            in_file = collections.Counter(event["name"] for event in events_in(one.files[0]) if event.get("ph") == "X")
            self.assertEqual(seen, {name: in_file[name] for name in seen})
        common = calls.keys() & without.keys()  # the table has fifty, those that took most
        for name in common:  # once, of hundreds of runs, one run had 61 calls and the other 62: nobody knows why
            self.assertAlmostEqual(calls[name], without[name], delta=1, msg=name)
        self.assertGreater(len(common), 20)
        if HAS_KINETO:  # others have no stacks in their files
            functions = collections.Counter(event["name"] for event in events_in(run.files[0]) if event.get("cat") == "python_function")
            (forward,) = [calls for name, calls in functions.items() if re.search(r"windowed\.py\(\d+\): forward$", name)]
            self.assertEqual(forward, 2)
            self.assertFalse([event for event in events_in(bare.files[0]) if event.get("cat") == "python_function"])

    def test_epochs_are_compared(self):
        """How much more time each operator takes in a step of the third epoch than in one of the first: as the files of both say."""
        run = self.run_one("epochs=1,3,active=2,plain_names")
        self.assertEqual(run.names, ["epoch_1.json", "epoch_3.json"])
        self_us = {epoch: {name: one.self_us for name, one in read_trace(file).cpu.items()} for epoch, file in zip((1, 3), run.files)}
        rows = run.stage()["operator_epochs"]
        self.assertEqual({row["epoch"] for row in rows}, {1, 3})
        compared = 0
        for row in (row for row in rows if row["operator"].startswith("aten::")):
            own, first = (self_us[epoch].get(row["operator"]) for epoch in (row["epoch"], 1))
            with self.subTest(row["operator"], epoch=row["epoch"]):
                if not HAS_KINETO:  # others write whole microseconds: what is inside what is lost there
                    break
                self.assertAlmostEqual(row["self_s_per_step"] * 1e6, own / 2, delta=0.51)
                if row["change_percent"] is None:
                    self.assertEqual((first, row["change_percent_reason"]), (None, "it was not called there"))
                    continue
                # Of times of which each call's may be a nanosecond off.
                self.assertAlmostEqual(row["change_percent"], 100 * (own / first - 1), delta=0.1 + 100 * 0.001 * row["calls"] * (own + first) / first ** 2)
                compared += 1
        self.assertGreaterEqual(compared, 10 if HAS_KINETO else 0)
        self.assertEqual({row["change_percent"] for row in rows if row["epoch"] == 1}, {0})

    def test_the_export_for_tensorboard(self):
        """A packed copy in the folder of the model's name, to the byte."""
        run = self.run_one("active=2,repeat=2")
        done = subprocess.run([PROFTRACE, "export", run.path, "--to", "torch", "-o", f"{run.folder}/out"], capture_output=True, text=True, check=True)
        self.assertIn("2 profiler windows", done.stderr)
        for file, name in zip(run.files, run.names):
            with gzip.open(f"{run.folder}/out/Net/{name}.gz") as packed, open(file, "rb") as own:
                self.assertEqual(packed.read(), own.read())

    def test_frameworks(self):
        """Their epochs and steps are the same ones; a look at the validation before the training is none."""
        expected = {"lightning": ["validation after step 10", "epoch 2, steps 13 to 14", "epoch 3, steps 23 to 24"],
                    "transformers": ["validation after step 6", "epoch 2, steps 9 to 10", "epoch 3, steps 15 to 16"]}
        for name, windows in expected.items():
            with self.subTest(name):
                needed = f"import {name}" + ("; import accelerate" if name == "transformers" else "")
                if subprocess.run([traced.PYTHON, "-c", needed], capture_output=True, check=False).returncode:
                    self.skipTest(f"{traced.PYTHON} has no {name}")
                run = self.run_one("epochs=2,3,active=2,validation", name, program="framework_fit.py")
                self.assertEqual(run.status, 0, run.err)
                self.assertEqual([window for window, _ in self.windows_of(run)], windows)
                self.assertTrue(run.stage()["operators"])


HOSTILE = {
    "link.json": lambda path: path.symlink_to("/etc/passwd"),
    "pipe.json": lambda path: os.mkfifo(path),
    "folder.json": lambda path: path.mkdir(),
    "empty.json": lambda path: path.write_text(""),
    "no_trace.json": lambda path: path.write_text('{"a": [1, 2]}'),
    "deep.json": lambda path: path.write_text('{"traceEvents": [' + '{"a":' * 100000),
    "no_marker.json": lambda path: path.write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1}]}'),
    "other_pid.json": lambda path: path.write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "ptsync:1:4194304:1:steps:1:1:1", "ts": 1, "dur": 1}]}'),
    "numbers.json": lambda path: path.write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "ptsync:99999999999999999999:-1:-1:steps:-1:-1:-1", '
                                                 '"ts": 1e999, "dur": -1e308}, {"ph": "X", "cat": "cpu_op", "name": 7, "ts": NaN, "dur": []}]}'),
}


class HostileFiles(unittest.TestCase):
    def test_files_that_are_no_windows(self):
        """Each is named with its reason, and the one that is a window is read."""
        with tempfile.TemporaryDirectory() as folder:
            run = Run(folder, "active=2")
            for name, make in HOSTILE.items():
                make(pathlib.Path(run.files[0]).parent / name)
            whole = pathlib.Path(run.files[0]).read_text(encoding="utf-8")
            (pathlib.Path(run.files[0]).parent / "zcut.json").write_text(whole[:-len(whole) // 4], encoding="utf-8")
            rows = run.stage()["profiler_windows"]
            problems = {os.path.basename(row["file"]): row["problem"] for row in rows}
            self.assertEqual(set(problems), {*HOSTILE, "zcut.json", *run.names})
            self.assertEqual({name for name, problem in problems.items() if not problem}, set(run.names))
            self.assertEqual(problems["zcut.json"], "its file is not whole")
            self.assertIn("no marker", problems["no_marker.json"])
            self.assertIn("not in this run", problems["other_pid.json"])
            for form in "text", "md", "html":
                subprocess.run([PROFTRACE, "report", run.path, "--full" if form == "text" else "--format", *([] if form == "text" else [form])],
                               capture_output=True, check=True)


class Settings(unittest.TestCase):
    def warning_of(self, window):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PROFTRACE, "run", "--no-report", "-o", f"{folder}/run", "--", "true"], capture_output=True, text=True, check=True,
                                  env=traced.environment(PROFTRACE_WINDOW=window))
        return "".join(line for line in done.stderr.splitlines() if "WINDOW" in line)

    def test_what_is_not_understood_is_named(self):
        for window, what in {
                "skip_frist=10": "skip_frist=10 is not understood and has no effect; did you mean skip_first?",
                "active=ten": "active=ten is not understood and has no effect; give active=NUMBER of 1 or more",
                "active": "active is not understood and has no effect; give active=NUMBER of 1 or more",
                "record_shapes=1": "record_shapes=1 is not understood and has no effect; give record_shapes without a value",
                "active=0": "active=0 is not understood and has no effect; give active=NUMBER of 1 or more",
                "epochs=1,0": "epochs=1,0 is not understood at 0 and",
                "epochs=1,5,x": "epochs=1,5,x is not understood at x and",
                "1,2": "1,2 is not understood and",
                "active=99999999999": "active=99999999999 is not understood and"}.items():
            with self.subTest(window):
                self.assertIn(what, self.warning_of(window))

    def test_what_is_understood_is_not_named(self):
        for window in "", "skip_first=10,wait=5,warmup=5,active=100,repeat=1", "every_n_steps=100", "epochs=1,5,10", "epochs=1,5,active=3,calls", "calls,":
            with self.subTest(window):
                self.assertEqual(self.warning_of(window), "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
