#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ranks make each step together: it counts once, and who is late, and in what, is named."""
import unittest

from loops import World


class Ranks(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.ranks = [self.world.process(rank) for rank in range(3)]

    def train(self, wait_ms=(1, 1, 1), forward_ms=(20, 20, 20), batches=40):
        """Gradients are exchanged in the backward pass: all wait for the last one there."""
        longest = max(w + f for w, f in zip(wait_ms, forward_ms))
        for rank, wait, forward in zip(self.ranks, wait_ms, forward_ms):
            for _ in rank.loader(batches=batches, samples=8, workers=1).iterate(wait):
                rank.forward(forward)
                with rank.within("backward"):
                    rank.rest(20)
                    rank.receive(longest - wait - forward + 0.2)
                rank.step()

    def test_steps_are_those_of_one_rank_and_samples_of_all(self):
        self.train()
        training = self.world.training()
        self.assertEqual((training["steps"], training["epochs"]), (40, 1))
        self.assertAlmostEqual(training["samples_per_s"], 3 * 320 / training["training_s"], places=3)
        self.assertEqual([(r["rank"], r["steps"]) for r in training["processes"]], [(0, 40), (1, 40), (2, 40)])

    def late(self):
        found = [f for f in self.world.report()["findings"] if f["rule"] == "rank_imbalance"]
        return (found[0]["evidence"]["late_rank"], found[0]["evidence"]["late_in"]) if found else None

    def test_a_rank_whose_forward_pass_takes_longer(self):
        self.train(forward_ms=(20, 60, 20))
        self.assertEqual(self.late(), (1, "forward"))

    def test_a_rank_whose_data_comes_late(self):
        self.train(wait_ms=(1, 1, 50))
        self.assertEqual(self.late(), (2, "data"))

    def test_even_ranks(self):
        self.train()
        self.assertIsNone(self.late())

    def test_programs_without_ranks_make_steps_of_their_own(self):
        for process in self.ranks:
            process.rank = None
        self.train()
        self.assertEqual(self.world.training()["steps"], 120)


if __name__ == "__main__":
    unittest.main()
