# SPDX-License-Identifier: MIT
"""`proftrace top` on 200 processes that work: at most 1 % of a core of its own, and nothing that the programs could measure."""
import json
import os
import statistics
import subprocess
import time
import unittest

from launcher_case import LIBRARY, PROFTRACE, LauncherCase, clean_environment

N, WINDOW_S, ROUNDS = 200, 20, 3
# Each child counts its own turns and CPU time in memory that the parent reads: no call of theirs is for the test.
WORKERS = f"""
import mmap, os, struct, sys, time
shared = mmap.mmap(-1, 16 * {N})
for worker in range({N}):
    if os.fork() == 0:
        file, turns = os.open("/etc/passwd", os.O_RDONLY), 0
        while True:
            for i in range(20): os.pread(file, 100, 0)
            turns += 1
            struct.pack_into("dd", shared, 16 * worker, turns, time.process_time())
            time.sleep(0.5)
print("ready", flush=True)
for line in sys.stdin:
    values = struct.unpack({2 * N} * "d", shared[:])
    print(sum(values[::2]), sum(values[1::2]), flush=True)
"""


class Cost(LauncherCase):
    def ask(self):
        """Turns and CPU seconds of all workers so far."""
        self.program.stdin.write("\n")
        self.program.stdin.flush()
        return tuple(map(float, self.program.stdout.readline().split()))

    def cpu_per_turn(self):
        turns, cpu_s = self.ask()
        time.sleep(WINDOW_S)
        after = self.ask()
        return (after[1] - cpu_s) / (after[0] - turns)

    def test_200_processes(self):
        os.mkdir(os.path.join(self.folder, "run"), 0o700)
        environment = clean_environment(LD_PRELOAD=LIBRARY, PROFTRACE_SESSION=os.path.join(self.folder, "run"))
        self.program = subprocess.Popen(["/usr/bin/python3", "-S", "-c", WORKERS], cwd=self.folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, start_new_session=True)
        self.addCleanup(self.program.stdout.close)
        self.addCleanup(self.program.stdin.close)
        self.addCleanup(self.end_group)
        self.assertEqual(self.program.stdout.readline(), "ready\n")
        time.sleep(3)
        alone, watched, shares = [], [], []
        for _ in range(ROUNDS):
            alone.append(self.cpu_per_turn())
            before, begin = os.times(), time.monotonic()
            top = subprocess.Popen([PROFTRACE, "top", "run"], cwd=self.folder, env=clean_environment(), stdout=subprocess.DEVNULL)
            watched.append(self.cpu_per_turn())
            top.terminate()
            top.wait()
            after = os.times()
            shares.append((after.children_user + after.children_system - before.children_user - before.children_system) / (time.monotonic() - begin))
        found = json.loads(self.proftrace("top", "run", "--json").stdout)
        print(f"top: {100 * statistics.median(shares):.2f} % of a core; a turn of the programs took {1e6 * statistics.median(alone):.1f} us of CPU alone, "
              f"{1e6 * statistics.median(watched):.1f} us watched ({found['running']} processes)")
        self.assertEqual(found["running"], N + 1)
        self.assertLessEqual(statistics.median(shares), 0.01)
        self.assertLess(min(watched), 1.02 * max(alone), "less than what they differ by alone")

    def end_group(self):
        os.killpg(self.program.pid, 9)
        self.program.wait()


if __name__ == "__main__":
    unittest.main()
