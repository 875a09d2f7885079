#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times of phases are exact sums, whatever lies within what, and shares are those that were planted."""
import random
import unittest

from loops import World


class Times(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.p = self.world.process()

    def test_known_splits(self):
        """Random durations: calls, totals and self times to the nanosecond, shares of the training passes."""
        dice = random.Random(12)
        planted = {phase: [0, 0] for phase in ("data_wait", "forward", "backward", "optimizer_step", "zero_grad")}

        def phase(kind, make):
            ms = dice.randint(100_000, 9_000_000) / 1e6
            planted[kind][0] += 1
            planted[kind][1] += ms
            make(ms)

        loader = self.p.loader(batches=50, start_ms=2)
        for _ in range(4):
            it = loader.iterator()
            while True:
                more = []
                phase("data_wait", lambda ms: more.append(it.next(ms)))
                if not more[0]:
                    break
                phase("forward", self.p.forward)
                phase("zero_grad", lambda ms: self.p.phase("zero_grad", ms))
                phase("backward", self.p.backward)
                phase("optimizer_step", lambda ms: self.p.step("sgd", ms))
        training = self.world.training()
        whole_ms = sum(ms for _, ms in planted.values()) + 4 * 2
        for kind, (calls, ms) in planted.items():
            got = training["phases"][kind]
            self.assertEqual(got["calls"], calls)
            self.assertAlmostEqual(got["total_s"], ms / 1e3, places=9)
            self.assertAlmostEqual(got["self_s"], ms / 1e3, places=9)
        self.assertAlmostEqual(training["training_s"], whole_ms / 1e3, places=9)
        self.assertAlmostEqual(training["dataloader_time_pct"], 100 * (planted["data_wait"][1] + 8) / whole_ms, places=2)
        self.assertAlmostEqual(training["forward_percent"], 100 * planted["forward"][1] / whole_ms, places=2)
        self.assertAlmostEqual(training["optimizer_percent"],
                               100 * (planted["optimizer_step"][1] + planted["zero_grad"][1]) / whole_ms, places=2)
        self.assertAlmostEqual(sum(e["duration_s"] for e in training["per_epoch"]), whole_ms / 1e3, places=8)

    def test_what_lies_within_a_phase_is_not_its_own(self):
        for _ in self.p.loader(batches=10).iterate():
            with self.p.within("optimizer_step", "LBFGS", object=1):
                self.p.rest(1)
                self.p.forward(2)
                with self.p.within("backward"):
                    self.p.rest(3)
                    self.p.phase("garbage_collection", 5)
        training = self.world.training()
        split = {kind: (round(p["total_s"], 9), round(p["self_s"], 9)) for kind, p in training["phases"].items()}
        self.assertEqual(split["optimizer_step"], (0.11, 0.01))
        self.assertEqual(split["backward"], (0.08, 0.03))
        self.assertEqual(split["garbage_collection"], (0.05, 0.05))
        self.assertAlmostEqual(training["optimizer_percent"], 100 * 0.01 / training["training_s"], places=2)

    def test_a_phase_within_one_of_its_kind_is_a_part_of_it(self):
        for _ in range(3):
            with self.p.within("backward"):
                self.p.rest(2)
                with self.p.within("backward"):
                    self.p.rest(1)
            self.p.step()
        self.assertEqual([self.world.training()["phases"]["backward"][key] for key in ("calls", "total_s", "self_s")], [3, 0.009, 0.009])

    def test_functions_that_the_user_asked_for_take_nothing_from_a_step(self):
        for _ in self.p.loader(batches=10).iterate():
            with self.p.within("forward", "Net", object=1):
                self.p.rest(1)
                self.p.phase("function", 4, "model:attention")
            self.p.backward(5)
            self.p.step()
        training = self.world.training()
        self.assertAlmostEqual(training["forward_percent"], 100 * 0.05 / training["training_s"], places=2)
        self.assertEqual(training["phases"]["forward"]["self_s"], 0.01)

    def test_what_was_different_in_slow_steps(self):
        for i in self.p.loader(batches=60).iterate():
            if i == 20:
                self.p.phase("garbage_collection", 40)
            self.p.forward(90 if i == 33 else 2)
            self.p.backward()
            if i == 47:
                self.p.rest(70)
            self.p.step()
        slow = self.world.training()["slowest_steps"]
        self.assertEqual([(s["step"], s["grew"]) for s in slow], [(33, "forward"), (47, "other"), (20, "garbage_collection")])
        self.assertAlmostEqual(slow[0]["by_s"], 0.088, delta=0.001)

    def test_an_open_phase_ends_with_its_process(self):
        for _ in self.p.loader(batches=3).iterate():
            self.p.train()
        self.p.event("phase_begin phase=checkpoint object=0x0 name=\"save\"")
        self.p.rest(50)
        self.p.event("phase_begin phase=transfer object=0x0")
        self.p.rest(25)
        self.p.state = "state=running"
        phases = self.world.training()["phases"]
        end_ms = 100  # after the last event: see World.text
        self.assertEqual((phases["checkpoint"]["total_s"], phases["transfer"]["total_s"]), ((75 + end_ms) / 1e3, (25 + end_ms) / 1e3))

    def test_workers_have_phases_and_no_steps(self):
        for _ in self.p.loader(batches=5, workers=1).iterate():
            self.p.train()
        worker = self.world.process()
        for _ in range(5):
            worker.phase("worker_fetch", 30, amount=4)
        training = self.world.training()
        self.assertEqual((training["steps"], training["phases"]["worker_fetch"]["total_s"]), (5, 0.15))
        self.assertNotIn("processes", training)

    def test_a_program_that_only_imports_does_not_train(self):
        self.p.phase("import", 300, "torch")
        stage = self.world.report()["stages"][0]
        self.assertNotIn("training", stage)
        self.assertEqual([(p["phase"], p["name"], p["total_s"]) for p in stage["phases"]], [("import", "torch", 0.3)])


if __name__ == "__main__":
    unittest.main()
