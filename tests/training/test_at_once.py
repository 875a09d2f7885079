#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trainings without ranks: what several that run at once could each do without is gained once; what one after the other could, is
gained for each."""
import unittest

from loops import World


class AtOnce(unittest.TestCase):
    def setUp(self):
        self.world = World()

    def train(self, at_s=0.1, epochs=3, validate_ms=50, after=lambda p: None, before=lambda p: None, first_ms=None):
        p = self.world.process()
        p.ns = round(at_s * 1e9)
        before(p)
        loader, other = (p.loader(name, batches=10, workers=2) for name in ("Images", "Validation"))
        for _ in range(epochs):
            for _ in loader.iterate(first_ms=first_ms):
                p.forward(10)
                p.backward(20)
                p.step("sgd", 5)
            if validate_ms:
                for _ in other.iterate():
                    p.forward(validate_ms)
            after(p)
        return p.ns / 1e9

    def gain_of(self, rule):
        report = self.world.report()
        found = [f["gain_upper_s"] for f in report["findings"] if f["rule"] == rule]
        return found[0] if found else None

    def holds(self, rule, gain_s):
        bound_s = self.gain_of(rule)
        self.assertIsNotNone(bound_s)
        self.assertGreaterEqual(bound_s, gain_s - 1e-6)
        self.assertLess(bound_s, 1.2 * gain_s)

    def test_validation_of_folds_at_once(self):
        for _ in range(4):
            self.train()
        self.holds("costly_validation", 2 * 10 * 0.051)

    def test_validation_of_folds_one_after_the_other(self):
        at_s = 0.1
        for _ in range(4):
            at_s = self.train(at_s)
        self.holds("costly_validation", 4 * 2 * 10 * 0.051)

    def test_two_pairs_of_folds(self):
        for _ in range(2):
            self.train(self.train() + 0.01)
        self.holds("costly_validation", 2 * 2 * 10 * 0.051)

    def test_the_longest_of_several_validates_most(self):
        for validate_ms in (5, 5, 120, 5):
            self.train(validate_ms=validate_ms)
        self.holds("costly_validation", 2 * 10 * 0.121)

    def test_compiling_at_once(self):
        def compile_it(p):
            with p.within("forward", "Net", object=1), p.within("compile", "dynamo"):
                p.phase("compile", 900, "inductor")
        for _ in range(4):
            self.train(validate_ms=0, before=compile_it)
        self.holds("compiling", 0.9)

    def test_checkpoints_at_once(self):
        for _ in range(4):
            self.train(validate_ms=0, after=lambda p: p.phase("checkpoint", 300, "save"))
        self.holds("costly_checkpoints", 2 * 0.3)

    def test_first_batches_at_once(self):
        for _ in range(4):
            self.train(validate_ms=0, first_ms=400)
        self.holds("slow_first_batches", 2 * 0.4)


class ManyEpochs(unittest.TestCase):
    """More than are kept."""

    def setUp(self):
        self.world = World()
        self.p = self.world.process()

    def test_the_first_batches_of_all_epochs_count(self):
        loader = self.p.loader(batches=1, workers=2, start_ms=0)
        for _ in range(3000):
            for _ in loader.iterate(0, first_ms=300):
                self.p.forward(100)
                self.p.backward(0)
        training = self.world.training()
        self.assertEqual(training["epochs"], 3000)
        # With one batch an epoch, its wait is the usual one.
        self.assertEqual(training["late_first_batches_s"], 0)
        self.assertEqual(len(training["per_epoch"]) + training["per_epoch_left_out"], 3000)

    def test_late_ones_behind_a_thousand(self):
        loader = self.p.loader(batches=3, workers=2, start_ms=0)
        for _ in range(2000):
            for _ in loader.iterate(1, first_ms=101):
                self.p.forward(100)
                self.p.backward(1)
        training = self.world.training()
        self.assertAlmostEqual(training["late_first_batches_s"], 1999 * 0.1, places=3)

    def test_validations_behind_a_thousand(self):
        loader, other = self.p.loader(batches=1), self.p.loader("Validation", batches=1)
        for i in range(1200):
            for _ in loader.iterate():
                self.p.train()
            for _ in other.iterate():
                self.p.forward(7000 if i == 1100 else 10)
        report = self.world.report()
        training = report["stages"][0]["training"]
        self.assertEqual((training["validation_passes"], len(training["validations"]) + training["validations_left_out"]), (1200, 1200))
        finding = [f for f in report["findings"] if f["rule"] == "costly_validation"][0]
        self.assertLess(finding["gain_upper_s"], 1.2 * 1199 * 0.015)

    def test_data_that_are_read_behind_a_thousand_are_no_validation(self):
        loader, other = self.p.loader(batches=1), self.p.loader("Read", batches=2)
        for _ in range(700):
            for _ in loader.iterate():
                self.p.train()
            for _ in other.iterate():
                pass
        training = self.world.training()
        self.assertEqual((training["validation_passes"], training["validation_s"]), (0, 0))


class Checkpoints(unittest.TestCase):
    def test_saves_between_steps_are_a_part_of_the_training(self):
        world = World()
        p = world.process()
        for _ in range(40):
            p.phase("checkpoint", 20, "save")
            p.forward(20)
            p.backward(40)
            p.step("sgd", 20)
        report = world.report()
        finding = [f for f in report["findings"] if f["rule"] == "costly_checkpoints"][0]
        self.assertAlmostEqual(finding["evidence"]["share_percent"], 20, delta=0.5)


if __name__ == "__main__":
    unittest.main()
