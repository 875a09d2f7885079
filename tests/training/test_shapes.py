#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Steps, epochs and passes of loops of every shape that people write are counted exactly."""
import unittest

from loops import World


def counts(training):
    return {key: training[key] for key in ("steps", "epochs", "validation_passes", "optimizer_steps")}


class Shapes(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.p = self.world.process()

    def check(self, steps, epochs, validations=0, optimizer_steps=None):
        training = self.world.training()
        self.assertEqual(counts(training), {"steps": steps, "epochs": epochs, "validation_passes": validations,
                                            "optimizer_steps": steps if optimizer_steps is None else optimizer_steps})
        return training

    def test_two_epochs_each_with_validation(self):
        train, val = self.p.loader(), self.p.loader("Validation", batches=2)
        for _ in range(2):
            for _ in train.iterate():
                self.p.train()
            for _ in val.iterate():
                self.p.forward()
        training = self.check(16, 2, 2)
        self.assertEqual([(e["batches"], e["steps"], e["samples"]) for e in training["per_epoch"]], [(8, 8, 32)] * 2)
        self.assertEqual([e["data"] for e in training["validations"]], ["Validation"] * 2)

    def test_gradients_of_four_batches_make_a_step(self):
        for i in self.p.loader().iterate():
            self.p.forward()
            self.p.backward()
            if i % 4 == 0:
                self.p.step()
        self.assertEqual(self.check(8, 1, 0, 2)["accumulation"], 4)
        self.assertIn("Training: 8 batches, 1 epoch", self.world.report("--format", "text"))

    def test_two_models_that_train_against_each_other(self):
        for _ in self.p.loader().iterate():
            self.p.train("generator")
            self.p.train("discriminator")
        self.assertEqual(self.check(8, 1, 0, 16)["accumulation"], 1)

    def test_an_update_that_steps_its_optimizer_for_each_group_of_parameters(self):
        for _ in self.p.loader().iterate():
            self.p.forward()
            self.p.backward()
            for _ in range(6):
                self.p.step()
        self.assertEqual(self.check(8, 1)["accumulation"], 1)

    def test_updates_in_groups_without_a_loader(self):
        for _ in range(5):
            self.p.forward()
            self.p.backward()
            for _ in range(3):
                self.p.step()
        self.check(5, None)

    def test_one_gradient_for_two_optimizers(self):
        for _ in self.p.loader().iterate():
            self.p.forward()
            self.p.backward()
            self.p.step("encoder")
            self.p.step("decoder")
        self.check(8, 1, 0, 16)

    def test_updates_whose_gradients_nobody_sees(self):
        for _ in range(5):
            self.p.forward()
            self.p.step()
        self.check(5, None)

    def test_no_loader(self):
        for _ in range(5):
            self.p.train()
        self.assertIsNone(self.check(5, None)["epochs"])

    def test_no_loader_and_two_models(self):
        for _ in range(5):
            self.p.train("generator")
            self.p.train("discriminator")
        self.check(5, None, 0, 10)

    def test_an_iterator_that_is_made_again_when_it_ends(self):
        loader = self.p.loader()
        it = loader.iterator()
        for _ in range(20):
            if not it.next():
                it = loader.iterator()
                it.next()
            self.p.train()
        self.check(20, 3)

    def test_an_endless_loader_has_no_epochs_that_could_be_known(self):
        it, val = self.p.loader(batches=None).iterator(), self.p.loader("Validation", batches=2)
        for i in range(24):
            it.next()
            self.p.train()
            if i % 8 == 7:
                for _ in val.iterate():
                    self.p.forward()
        self.assertIn("never", self.check(24, None, 3)["epochs_reason"])

    def test_an_optimizer_that_calls_back_for_gradients(self):
        for _ in self.p.loader().iterate():
            with self.p.within("optimizer_step", "LBFGS", object=7):
                for _ in range(3):
                    self.p.forward()
                    self.p.backward()
        training = self.check(8, 1)
        self.assertEqual(training["accumulation"], 1)
        self.assertEqual(training["optimizer_percent"], 0)

    def test_a_batch_is_fetched_ahead(self):
        it = self.p.loader().iterator()
        has, current = it.next(), True
        while current:
            has = has and it.next()
            self.p.train()
            current = has
        self.check(8, 1)

    def test_batches_of_an_update_are_fetched_at_once_and_one_ahead(self):
        it = self.p.loader(batches=8).iterator()
        it.next()
        for _ in range(2):
            for _ in range(4):
                it.next()
            for _ in range(4):
                self.p.forward()
                self.p.backward()
            self.p.step()
        self.assertEqual(self.check(8, 1, 0, 2)["accumulation"], 4)

    def test_a_batch_is_fetched_ahead_for_two_models(self):
        it = self.p.loader().iterator()
        has, current = it.next(), True
        while current:
            has = has and it.next()
            self.p.train("generator")
            self.p.train("discriminator")
            current = has
        self.check_times(self.check(8, 1, 0, 16), beside_s=0.004)

    def update_at_once(self, it, batches=4):
        for _ in range(batches):
            it.next(5)
        for _ in range(batches):
            self.p.forward()
            self.p.backward()
        self.p.step()

    def check_times(self, training, beside_s):
        self.assertAlmostEqual(training["step_mean_s"] * training["steps"] + beside_s, training["training_s"], delta=1e-5)

    def test_steps_of_batches_that_are_fetched_at_once_last_as_long_as_one_batch(self):
        it = self.p.loader(batches=8).iterator()
        for _ in range(2):
            self.update_at_once(it)
        it.next(0)
        training = self.check(8, 1, 0, 2)
        self.check_times(training, beside_s=0.003)
        self.assertAlmostEqual(training["step_max_s"], (4 * 5 + 4 * 6 + 1) / 4e3, delta=1e-6)

    def test_such_steps_of_a_loop_that_has_fetched_one_ahead_and_is_left(self):
        it = self.p.loader(batches=20).iterator()
        it.next(5)
        for _ in range(2):
            self.update_at_once(it)
        training = self.check(8, 1, 0, 2)
        self.check_times(training, beside_s=0.003)
        self.assertEqual(training["per_epoch"][0]["samples"], 32)  # not those of the ninth

    def test_losses_of_batches_that_are_summed(self):
        for i in self.p.loader().iterate():
            self.p.forward()
            if i % 4 == 0:
                self.p.backward()
                self.p.step()
        training = self.check(2, 1)
        self.check_times(training, beside_s=0.004)
        self.assertEqual(training["per_epoch"][0]["samples"], 32)

    def test_losses_of_many_batches_that_are_summed(self):
        for i in self.p.loader(batches=60).iterate():
            self.p.forward()
            if i % 20 == 0:
                self.p.backward()
                self.p.step()
        training = self.check(3, 1)
        self.assertAlmostEqual(training["step_p50_s"], (19 * 3 + 8) / 1e3, places=6)  # the first one cannot be known yet

    def test_a_model_is_called_on_many_batches_before_it_trains(self):
        for i in self.p.loader(batches=60).iterate():
            self.p.forward()
            if i > 50:
                self.p.backward()
                self.p.step()
        training = self.check(10, 1)
        self.assertAlmostEqual(training["step_p50_s"], 0.008, places=6)
        self.assertLess(training["step_max_s"], 0.012)

    def test_batches_that_are_skipped_where_a_training_goes_on(self):
        for i in self.p.loader().iterate():
            if i > 6:
                self.p.train()
        training = self.check(2, 1)
        self.assertEqual((training["per_epoch"][0]["batches"], training["per_epoch"][0]["samples"]), (8, 8))
        self.assertLess(training["step_max_s"], 0.010)

    def test_a_batch_is_skipped_where_each_has_two_gradients(self):
        for i in self.p.loader().iterate():
            if i == 5:
                continue
            self.p.forward()
            self.p.backward()
            self.p.backward()
            self.p.step()
        training = self.check(7, 1)
        self.assertEqual(training["per_epoch"][0]["samples"], 28)
        self.assertAlmostEqual(training["step_p50_s"], 0.012, places=6)

    def test_a_loop_that_is_left_early(self):
        for i in self.p.loader().iterate():
            self.p.train()
            if i == 4:
                break
        self.assertFalse(self.check(4, 1)["per_epoch"][0]["is_complete"])

    def test_a_loop_that_is_left_early_each_time(self):
        loader = self.p.loader()
        for _ in range(3):
            for i in loader.iterate():
                self.p.train()
                if i == 4:
                    break
        self.check(12, 3)

    def test_validation_in_the_middle_of_an_epoch(self):
        val = self.p.loader("Validation", batches=2)
        for i in self.p.loader().iterate():
            self.p.train()
            if i == 4:
                for _ in val.iterate():
                    self.p.forward(50)
        training = self.check(8, 1, 1)
        self.assertAlmostEqual(training["step_max_s"], 0.008, places=6)
        self.assertAlmostEqual(training["validation_s"], 0.003 + 2 * 0.051 + 0.001, places=6)

    def test_validation_before_the_gradients_that_is_left_early(self):
        val = self.p.loader("Validation", batches=9)
        for i in self.p.loader().iterate():
            if i in (3, 6):
                for j in val.iterate():
                    self.p.forward()
                    if j == 2:
                        break
            self.p.train()
        self.check(8, 1, 2)

    def test_two_loaders_side_by_side(self):
        second = self.p.loader("Unlabelled", batches=8).iterator()
        for _ in self.p.loader("Labelled").iterate():
            second.next(2)
            self.p.train()
        training = self.check(8, 1)
        self.assertAlmostEqual(training["step_p50_s"], 0.010, places=6)

    def test_a_second_training_after_one_that_was_left(self):
        for i in self.p.loader("First").iterate():
            self.p.train("adam")
            if i == 2:
                break
        for _ in self.p.loader("Second").iterate():
            self.p.train("sgd")
        self.check(10, 2)

    def test_one_batch_over_and_over(self):
        self.p.loader().iterator().next()
        for _ in range(50):
            self.p.train()
        self.check(50, 1)

    def test_validation_that_a_framework_names(self):
        for _ in range(2):
            for _ in self.p.loader().iterate():
                self.p.train()
            with self.p.within("validation"):
                for i in self.p.loader("Validation", batches=5).iterate():
                    self.p.forward()
                    if i == 2:
                        break
        training = self.check(16, 2, 2)
        self.assertEqual([(v["batches"], v["data"]) for v in training["validations"]], [(2, "Validation")] * 2)

    def test_a_model_that_computes_derivatives(self):
        train, val = self.p.loader(), self.p.loader("Validation", batches=2)
        for _ in range(2):
            for _ in train.iterate():
                self.p.forward_with_forces()
                self.p.backward()
                self.p.step()
            for _ in val.iterate():
                self.p.forward_with_forces()
        self.assertEqual(self.check(16, 2, 2)["accumulation"], 1)

    def test_derivatives_in_validations_that_a_framework_names(self):
        for _ in self.p.loader().iterate():
            self.p.train()
        with self.p.within("validation"):
            for _ in self.p.loader("Validation", batches=2).iterate():
                self.p.forward()
                self.p.phase("backward", 1, "grad")  # by the loss, outside of the model
        self.check(8, 1, 1)

    def evaluate(self, calls=8, model=1, place=None):
        for i in range(calls):
            self.p.forward(2, model, evaluates=True, place=None if i else place)
            self.p.forward(1, model=99)  # the loss: always in training mode
            self.p.rest(1)

    def test_validation_without_a_loader(self):
        for _ in range(5):
            self.p.train()
            self.evaluate(place="7:3:estimate_loss:/own/train.py")
            self.p.rest(1)
        training = self.check(5, None, 5)
        self.assertEqual([(v["batches"], round(v["duration_s"], 6), round(v["forward_s"], 6)) for v in training["validations"]], [(8, 0.030, 0.023)] * 5)
        self.assertEqual(training["validation_s"], 0.15)
        # What is between two steps but no validation: the last loss, and a rest.
        of_step_s = training["training_s"] / 5
        self.world = World()
        self.p = self.world.process()
        for _ in range(5):
            self.p.train()
            self.p.rest(3)
        self.assertAlmostEqual(self.world.training()["training_s"] / 5, of_step_s, delta=1e-3)

    def test_validation_without_a_loader_in_an_epoch_with_one(self):
        for step in self.p.loader().iterate():
            self.p.train()
            if step % 4 == 0:
                self.evaluate()
        training = self.check(8, 1, 2)
        self.assertEqual(training["validation_s"], 0.06)

    def test_models_that_are_asked_in_evaluation_mode_and_nothing_is_validated(self):
        """A teacher, which never trains, and who asks its own model what to do before each step that it learns from."""
        for _ in range(5):
            for _ in range(10):
                self.p.forward(2, model=7, evaluates=True)
            self.evaluate(calls=4)
            self.p.train()
        training = self.check(5, None, 0)
        self.assertEqual(training["validation_s"], 0)

    def test_calls_of_a_teacher_before_the_gradients_of_a_batch(self):
        for _ in self.p.loader().iterate():
            self.p.forward(1)
            for _ in range(10):
                self.p.forward(2, evaluates=True)
            self.p.train()
        self.check(8, 1, 0)

    def test_a_scaler_skips_steps(self):
        for i in self.p.loader().iterate():
            self.p.forward()
            self.p.backward()
            with self.p.within("grad_scaling", object=1, amount=i in (1, 5)):
                if i not in (1, 5):
                    self.p.step()
        training = self.check(8, 1, 0, 6)
        self.assertEqual((training["skipped_optimizer_steps"], training["accumulation"]), (2, 1))

    def test_killed_in_the_second_epoch(self):
        loader = self.p.loader()
        for _ in loader.iterate():
            self.p.train()
        for i in loader.iterate():
            self.p.forward()
            if i == 4:
                self.p.event("phase_begin phase=backward object=0x0")
                self.p.rest(2)
                break
            self.p.backward()
            self.p.step()
        training = self.check(12, 2, 0, 11)
        self.assertEqual(training["phases"]["backward"]["calls"], 12)
        self.assertFalse(training["per_epoch"][1]["is_complete"])

    def test_steps_that_the_program_marks_win(self):
        for i in range(3):
            self.p.event(f"epoch number={i}")
            for j in range(2):
                self.p.event(f"step number={j}")
                self.p.train()
        training = self.check(6, 3)
        for i in range(10):
            self.p.train()
        self.check(6, 3, 0, 16)


if __name__ == "__main__":
    unittest.main()
