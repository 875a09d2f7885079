#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Phases last as long as the program itself says."""
import json
import unittest

import traced

traced.skip_without_torch()


class Times(unittest.TestCase):
    def off_by_too_much(self):
        """["forward: 0.21 instead of 0.2"]"""
        (code, out, errors), text = traced.traced("planted.py")
        self.assertEqual(code, 0, errors)
        phases, _ = traced.phases_in(text)
        planted = json.loads(out)
        seen = {name: sum(phase.end_s - phase.begin_s for phase in phases if phase.name == name) for name in planted}
        return [f"{name}: {seen[name]} instead of {seconds}" for name, seconds in planted.items() if abs(seen[name] - seconds) >= 0.02 * seconds]

    def test_phases_last_as_long_as_planted(self):
        """The program reads its clock beside ours: another one may have the CPU in between."""
        for _ in range(3):
            wrong = self.off_by_too_much()
            if not wrong:
                return
        self.fail(wrong)


if __name__ == "__main__":
    unittest.main()
