#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A wait through three processes, and threads of them that are not the main ones: who was waited for, and what each did meanwhile.

Every thread tells by its own clocks what it did; the account of each of them, and the split of each step of the wait that leads from
one to the next, are within 2 % of the wall time of that.
"""
import os
import sys
import unittest

from account_case import BUILD, AccountCase, take, thrice

ACROSS = os.environ.get("ACCOUNT_ACROSS", os.path.join(BUILD, "tests", "account", "account_across"))


class Across(AccountCase):
    def step(self, stage, waiter, target, wait):
        """The row of one waiting for the other."""
        rows = [row for row in stage["waits"] if row["wait"] == wait and row["tid"] == target and row["step"] == waiter]
        self.assertEqual(len(rows), 1, stage["waits"])
        return rows[0]

    @thrice
    def test_three_processes(self):
        output, _, stage = self.run_traced(ACROSS)
        wall, told = stage["time"]["wall_s"], take(output)
        tids = {line.split()[1]: int(line.split()[0]) for line in output.splitlines()}
        rows = {row["tid"]: row for row in stage["threads"]}
        self.assertLessEqual(set(tids.values()), set(rows), stage["threads"])
        for tid, parts in told.items():
            self.check_parts(rows[tid], parts, wall, f"thread {tid}")
        self.check_parts(stage["time"], told[tids["pipe:1"]], wall, "the main thread")

        first = self.step(stage, 1, tids["sleep:2"], "Data wait")
        self.check_parts(first, told[tids["sleep:2"]], wall, "the second process, waited for")
        second = self.step(stage, 2, tids["sleep:3"], "Network")
        self.check_parts(second, told[tids["sleep:3"]], wall, "the thread that answers, waited for")
        self.assertNotEqual(second["tid"], second["pid"], second)
        holder = self.step(stage, 3, tids["sleep:3h"], "Locks")
        self.assertEqual(holder["tid"], holder["pid"], holder)
        took = told[tids["lock:3"]]["lock_s"]
        for row, part, whole in ((first, "data_wait_s", told[tids["pipe:1"]]), (second, "network_s", told[tids["server:2"]])):
            self.assertAlmostEqual(row["total_s"], whole[part].seconds, delta=0.02 * wall + whole[part].queued, msg=row)
        self.assertAlmostEqual(holder["sleep_s"], took.seconds, delta=0.02 * wall + took.queued, msg=holder)
        # Its main thread sleeps on: that is not what the second process waited for.
        self.assertNotIn(tids["sleep:3h"], [row["tid"] for row in stage["waits"] if row["wait"] == "Network"], stage["waits"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
