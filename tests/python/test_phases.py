#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the phases of a training say: their numbers on nine shapes of a loop, what is in them, and that they are balanced whatever happens."""
import collections
import os
import re
import shutil
import signal
import tempfile
import unittest

import traced

VERSION = traced.skip_without_torch()


def of(*command, **more):
    (code, _, errors), text = traced.traced(*command, **more)
    phases, is_open = traced.phases_in(text)
    return code, errors, [phase for phase in phases if phase.name not in ("garbage_collection", "import")], is_open


def batches(n, passes=1, ends=None):
    """n batches in a number of passes that were read to their ends."""
    ends = passes if ends is None else ends
    return {"loader_start": passes, "data_wait": n + ends, "worker_fetch": n}


LOOPS = {
    "normal": {**batches(20, 4), "zero_grad": 16, "forward": 20, "backward": 16, "optimizer_step": 16},
    "accumulation": {**batches(8), "forward": 8, "backward": 8, "optimizer_step": 2},
    "two_optimizers": {**batches(8), "forward": 16, "backward": 16, "optimizer_step": 16},
    "no_loader": {"forward": 5, "backward": 5, "optimizer_step": 5},
    "infinite": {**batches(20, 3, 2), "forward": 20, "backward": 20, "optimizer_step": 20},
    "closure": {**batches(8), "zero_grad": 8, "forward": 8, "backward": 8, "optimizer_step": 8},
    "lookahead": {**batches(8), "forward": 8, "backward": 8, "optimizer_step": 8},
    "early_end": {**batches(4, 1, 0), "forward": 4, "backward": 4, "optimizer_step": 4},
    "validation_within": {**batches(10, 2), "forward": 10, "backward": 8, "optimizer_step": 8},
    "evaluation": {"forward": 63, "backward": 3, "optimizer_step": 3},
}


class Loops(unittest.TestCase):
    def test_each_shape_has_the_phases_that_it_has(self):
        for name, expected in LOOPS.items():
            with self.subTest(name):
                code, errors, phases, is_open = of("loops.py", name)
                self.assertEqual((code, errors, is_open), (0, "", 0))
                self.assertEqual(traced.counts(phases), expected)
                self.assertEqual({phase.amount for phase in phases if phase.name == "worker_fetch"} - {4}, set())
                waits = [phase.amount for phase in phases if phase.name == "data_wait" and phase.outcome == "done"]
                self.assertEqual(set(waits) - {4}, set())
                starts = [phase for phase in phases if phase.name == "loader_start"]
                self.assertEqual({phase.object for phase in phases if phase.name == "data_wait"} - {phase.made for phase in starts}, set())
                self.assertEqual({phase.label for phase in starts} - {"TensorDataset"}, set())
                self.assertEqual({phase.label for phase in phases if phase.name in ("forward", "optimizer_step")} - {"Linear", "MSELoss", "SGD"}, set())

    def test_calls_in_evaluation_mode_are_marked_and_their_first_has_a_place(self):
        """A loss is always in training mode."""
        (_, _, _), text = traced.traced("loops.py", "evaluation")
        phases, _ = traced.phases_in(text)
        calls = [phase for phase in phases if phase.name == "forward"]
        self.assertEqual([phase.amount for phase in calls if phase.label == "Linear"], ([0] + [1] * 10) * 3)
        self.assertEqual({phase.amount for phase in calls if phase.label == "MSELoss"}, {0})
        # A sampled allocation has a place, too.
        self.assertEqual(len(re.findall(r"python_place .*:evaluation:.* stands_for_ns=0\n.*phase_begin", text)), 3)

    def test_a_closure_is_inside_the_step(self):
        _, _, phases, _ = of("loops.py", "closure")
        self.assertEqual({tuple(phase.parents) for phase in phases if phase.name in ("backward", "forward", "zero_grad")}, {("optimizer_step",)})


class Ranks(unittest.TestCase):
    def ranks(self, n, **more):
        with tempfile.TemporaryDirectory() as folder:
            (code, _, errors), text = traced.traced("joins.py", n, f"{folder}/store", **more)
        self.assertEqual((code, errors), (0, ""))
        return sorted(re.findall(r"^process .* rank=(\d+)(?: local_rank=\d+)? world_size=(\d+)", text, re.M))

    def test_a_rank_that_only_torch_is_told_is_known(self):
        self.assertEqual(self.ranks(2), [("0", "2"), ("1", "2")])

    def test_a_rank_of_the_environment_stays(self):
        self.assertEqual(set(self.ranks(1, RANK="3", WORLD_SIZE="8")), {("3", "8")})

    def test_an_error_of_joining_passes_one_frame_of_ours(self):
        plain, (end, _) = traced.play("joins_nowhere.py"), traced.traced("joins_nowhere.py")
        self.assertEqual((plain[0], end[0]), (0, 0), end[2])
        self.assertEqual(int(end[1]), int(plain[1]) + 1)


class Contents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        code, errors, cls.phases, cls.open = of("shapes.py")
        assert code == 0, errors

    def amounts(self, label):
        """Samples in the batches of the data set with this class."""
        labels, found = {}, []  # by the address of an iterator, which another one may have later
        for phase in self.phases:
            if phase.name == "loader_start":
                labels[phase.made] = phase.label
            elif phase.name == "data_wait" and phase.outcome == "done" and labels[phase.object] == label:
                found.append(phase.amount)
        return found

    def test_samples_are_counted_in_each_kind_of_batch(self):
        expected = {"Tensors": [4, 4, 2], "Dicts": [4, 4, 2], "Nested": [4, 4, 2], "Images": [4, 4, 2], "Untouched": [4, 4, 2], "Arrays": [4, 4, 2],
                    "Stream": [4, 1], "Ready": [3, 3], "Texts": [4, 4, 2],
                    # Workers collate these, so that only the batch and its loader say it.
                    "Boxes": [4, 4, 2], "BoxesAlone": [4, 4, 4], "Names": [4, 4, 2], "One": [1] * 10, "Repeated": [4, 4, 2] * 2}
        self.assertEqual({label: self.amounts(label) for label in expected}, expected)

    def test_a_loader_that_starts_in_its_own_way_says_its_workers(self):
        for label in "OwnFalse", "OwnTrue":
            starts = [(phase.amount, phase.outcome) for phase in self.phases if phase.name == "loader_start" and phase.label == label]
            self.assertEqual((starts, self.amounts(label)), ([(1, "done")] * 2, [4, 4, 2] * 2))

    def test_modules_in_a_data_set_are_no_forward(self):
        self.assertEqual([phase for phase in self.phases if phase.name != "worker_fetch" and "worker_fetch" in phase.parents], [])

    def test_states_are_saved_and_loaded(self):
        self.assertEqual([(phase.name, phase.label) for phase in self.phases if phase.name == "checkpoint"], [("checkpoint", "save"), ("checkpoint", "load")])

    def test_the_model_is_named_not_what_is_around_it(self):
        names = [phase.label for phase in self.phases if phase.name == "forward"]
        self.assertIn("Inner", names)
        self.assertNotIn("DataParallel", names)
        self.assertEqual([name for name in names if "Sharded" in name], ["Sharded"])

    def test_one_backward_each_time(self):
        self.assertEqual([phase.label for phase in self.phases if phase.name == "backward"], [None, "grad", None])

    def test_balanced(self):
        self.assertEqual(self.open, 0)


class Compiled(unittest.TestCase):
    def setUp(self):
        if VERSION.startswith("1."):
            self.skipTest(f"PyTorch {VERSION} has no torch.compile")
        code, _, errors = traced.play("recompiles.py")
        if code:
            self.skipTest(f"PyTorch {VERSION} cannot compile here: {errors.splitlines()[-1]}")

    def test_frames_are_compiled_and_recompiled(self):
        code, errors, phases, is_open = of("recompiles.py")
        self.assertEqual((code, is_open), (0, 0), errors)
        compiles = [phase for phase in phases if phase.name == "compile"]
        self.assertEqual({phase.label for phase in compiles}, {"dynamo"})
        times = collections.Counter(phase.object for phase in compiles)
        self.assertEqual(sorted(times.values()), [1, 1, 3])  # once, its rest after a break, and again for each type
        self.assertEqual(sum(phase.amount for phase in compiles), 1)
        self.assertEqual([phase for phase in phases if phase.name != "compile" and "compile" in phase.parents], [])

    def check_graphs(self, backend):
        with tempfile.TemporaryDirectory() as untraced, tempfile.TemporaryDirectory() as traced_apart:
            plain = traced.play("compiled.py", backend, TORCHINDUCTOR_CACHE_DIR=untraced)
            self.assertEqual(plain[0], 0, plain[2])
            code, ours, _ = traced.traced("compiled.py", backend, TORCHINDUCTOR_CACHE_DIR=traced_apart)[0]
        # Reasons of breaks name files, and our functions around those of a file say so behind its name.
        self.assertEqual((code, ours.replace(" (proftrace, importlib._bootstrap)", "")), plain[:2])

    def test_graphs_are_the_same(self):
        self.check_graphs("eager")

    @unittest.skipUnless("PROFTRACE_TEST_TORCH" in os.environ and shutil.which("g++"), "two minutes of compiling: scripts/test-slow")
    def test_graphs_of_inductor_are_the_same(self):
        self.check_graphs("inductor")


class Ends(unittest.TestCase):
    def test_exceptions_end_what_they_leave(self):
        code, errors, phases, is_open = of("raises.py")
        self.assertEqual((code, is_open), (0, 0), errors)
        raised = {phase.name for phase in phases if phase.outcome == "raised"}
        self.assertEqual(raised, {"loader_start", "data_wait", "worker_fetch", "forward", "backward", "optimizer_step", "checkpoint"})
        last = phases[-1]
        self.assertEqual((last.name, last.parents, last.outcome), ("forward", [], "done"))

    def test_an_interrupted_step_is_balanced(self):
        code, _, phases, is_open = of("dies.py", "interrupt")
        self.assertEqual((code, is_open), (-signal.SIGINT, 0))
        self.assertEqual([phase.name for phase in phases if phase.outcome == "raised"], ["forward"])

    def test_phases_up_to_a_kill_are_there(self):
        code, _, phases, is_open = of("dies.py", "kill")
        self.assertEqual((code, is_open), (-signal.SIGKILL, 1))
        self.assertEqual(traced.counts(phases)["optimizer_step"], 3)

    def test_children_that_end_without_an_exit_keep_their_phases(self):
        code, errors, phases, _ = of("dies.py", "child")
        self.assertEqual(code, 0, errors)
        self.assertEqual(len({phase.thread for phase in phases if phase.name == "forward"}), 2)

    def test_a_worker_that_is_killed_leaves_what_it_fetched(self):
        code, _, phases, _ = of("dies.py", "worker")
        self.assertEqual(code, 1)
        self.assertGreaterEqual(traced.counts(phases).get("worker_fetch", 0), 2)


class Invisible(unittest.TestCase):
    def test_the_edges_are_as_without_us(self):
        plain = traced.play("edge.py")
        self.assertEqual(plain[0], 0, plain[2])
        lacking = re.findall(r"^(\w+) FAILED", plain[1], re.M)  # the program was written on 1.13 and 2.13
        self.assertLessEqual(len(lacking), 0 if VERSION.startswith(("1.13", "2.13")) else 3, plain[1])
        end, text = traced.traced("edge.py")
        self.assertEqual(end, plain)
        self.assertEqual(traced.phases_in(text)[1], 0)

    def test_a_traceback_ends_in_the_same_line(self):
        plain, (end, _) = traced.play("raises.py", "uncaught"), traced.traced("raises.py", "uncaught")
        self.assertEqual((end[0], end[2].splitlines()[-1]), (plain[0], plain[2].splitlines()[-1]))
        ours = [line for line in end[2].splitlines() if not re.search(r"^\s*\^*$", line)]
        self.assertEqual([line for line in ours if "proftrace" not in line], [line for line in plain[2].splitlines() if not re.search(r"^\s*\^*$", line)])


if __name__ == "__main__":
    unittest.main()
