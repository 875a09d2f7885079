#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Phases last as long as the program itself says."""
import json
import unittest

import traced

traced.skip_without_torch()


class Times(unittest.TestCase):
    def test_phases_last_as_long_as_planted(self):
        (code, out, errors), text = traced.traced("planted.py")
        self.assertEqual(code, 0, errors)
        phases, _ = traced.phases_in(text)
        for name, seconds in json.loads(out).items():
            seen = sum(phase.end_s - phase.begin_s for phase in phases if phase.name == name)
            self.assertLess(abs(seen - seconds), 0.02 * seconds, f"{name}: {seen} instead of {seconds}")


if __name__ == "__main__":
    unittest.main()
