#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The account's heap: what the allocator takes on this machine, and not what it usually takes.

The witness is the program's own clock without us, of a loop that does little else.
"""
import os
import subprocess
import unittest

from account_case import BUILD, AccountCase, thrice
from sampled import no_samples

HEAP = os.environ.get("ACCOUNT_HEAP", os.path.join(BUILD, "tests", "account", "account_heap"))
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heap.c")
PAIRS = 60_000_000
PROFTRACE = os.path.join(BUILD, "proftrace")


class Heap(AccountCase):
    @unittest.skipIf(no_samples(PROFTRACE), no_samples(PROFTRACE))
    @thrice
    def test_many_small_blocks(self):
        alone = min(float(subprocess.run([HEAP, str(PAIRS)], stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout) for _ in range(2))
        _, _, stage = self.run_traced(HEAP, str(PAIRS), "1.5")
        time = stage["time"]
        print(f"heap {time['heap_s']:.2f} s, alone {alone:.2f} s", end=" ... ", flush=True)
        self.assertGreater(time["heap_s"], 0.35 * alone, time)  # the loop itself is a part of that
        self.assertLess(time["heap_s"], 1.3 * alone, time)

    def test_a_program_with_few_samples(self):
        """Nothing says how fast this machine's allocator is: a usual cost."""
        _, _, stage = self.run_traced(HEAP, "100000", "0.1")
        self.assertAlmostEqual(stage["time"]["heap_s"], 200_000 * 12e-9, delta=20_000 * 12e-9)

    def test_beside_a_program_that_nobody_counts(self):
        """A static program is sampled, but its calls are not counted: what it took is not shared among the calls of others."""
        static = os.path.join(self.folder, "static")
        subprocess.run(["cc", "-O1", "-static", "-fno-builtin", SOURCE, "-o", static], check=True, timeout=100)
        _, _, stage = self.run_traced("sh", "-c", f"{static} {PAIRS} 1 && exec {HEAP} 100000 0.1")
        heap_s = sum(row["heap_s"] or 0 for row in stage["threads"])
        self.assertLess(heap_s, 10 * 200_000 * 12e-9, stage["threads"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
