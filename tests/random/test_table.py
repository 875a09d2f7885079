#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What --check lets pass: the rates of the promise, and beside other load no more than they say."""
import types
import unittest

import run  # noqa: F401  it makes the planted tests' modules known
import table


def row(rules=("small_reads",), is_right=True, is_bound=True, false_alarms=()):
    return types.SimpleNamespace(rules=rules, is_shown=True, is_right=is_right, is_bound=is_bound, false_alarms=false_alarms, place=None)


def holds(beside, wrong=0, unbound=0, alarms=0):
    planted = [row(is_right=i >= wrong, is_bound=i >= unbound) for i in range(100)]
    healthy = [row(rules=(), is_bound=None, false_alarms=["x"] if i < alarms else []) for i in range(50)]
    return table.Result([*planted, *healthy], "1..150", beside).holds()


class CheckTest(unittest.TestCase):
    def test_quiet(self):
        self.assertTrue(holds(0, wrong=5, unbound=10))
        for much in ({"wrong": 6}, {"unbound": 11}, {"alarms": 1}):
            self.assertFalse(holds(0, **much), much)

    def test_beside_others(self):
        self.assertTrue(holds(2, wrong=10, unbound=20, alarms=5))
        for much in ({"wrong": 11}, {"unbound": 21}, {"alarms": 6}):
            self.assertFalse(holds(2, **much), much)


if __name__ == "__main__":
    unittest.main(verbosity=2)
