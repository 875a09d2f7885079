#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What only starts the program and waits for it is not the program: its account is that of what works, whatever its name is."""
import os
import shutil
import sys
import unittest

from account_case import AccountCase, thrice

# Sleeps once, computes for a while, and says for how long.
WORK = """
import sys, time
def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: sum(range(2000))
begun = time.monotonic()
time.sleep(0.6)
slept = time.monotonic() - begun
compute(float(sys.argv[1]) if len(sys.argv) > 1 else 0.5)
print("took", slept, time.thread_time())
"""

POLLS = """
import subprocess, sys, time
children = [subprocess.Popen([sys.executable, *words.split()]) for words in sys.argv[1:]]
while any(child.poll() is None for child in children): time.sleep(0.1)
"""

CAPTURES = """
import subprocess, sys
print(subprocess.run([sys.executable, *sys.argv[1].split()], capture_output=True, text=True, check=True).stdout, end="")
"""

READS_LINES = """
import subprocess, sys
with subprocess.Popen([sys.executable, "-u", *sys.argv[1].split()], stdout=subprocess.PIPE, text=True) as child:
    for line in child.stdout: print(line, end="")
"""

WAITS_IN_A_LOOP = """
import asyncio, sys
async def main():
    child = await asyncio.create_subprocess_exec(sys.executable, *sys.argv[1].split())
    await child.wait()
asyncio.run(main())
"""


# Not a launcher: while a helper that does nothing is there, it sleeps for reasons of its own.
HAS_AN_IDLE_HELPER = """
import subprocess, sys, time
helper = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
for _ in range(40): time.sleep(0.03)
helper.communicate()
"""

# Not a launcher: it asks a helper, which answers.
ASKS_A_HELPER = """
import subprocess, sys
ANSWERS = "import sys, time\\nfor line in sys.stdin:\\n    time.sleep(0.05); print(line, end='', flush=True)"
helper = subprocess.Popen([sys.executable, "-c", ANSWERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for i in range(20):
    helper.stdin.write("a\\n"); helper.stdin.flush(); helper.stdout.readline()
    sum(range(300_000))
helper.communicate()
"""


class Launchers(AccountCase):
    def setUp(self):
        super().setUp()
        self.write("work.py", WORK)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def check(self, *command, programs=1):
        output, report, stage = self.run_traced(*command)
        told = [tuple(map(float, line.split()[1:])) for line in output.splitlines() if line.startswith("took")]
        slept, computed = sum(t[0] for t in told), sum(t[1] for t in told)
        time, wall = stage["time"], stage["time"]["wall_s"]
        self.assertEqual(len(told), programs, output)
        # Starting Python, and what the launcher itself did.
        self.assert_within(time["sleep_s"], slept, slept + 0.1, wall, f"{command}: {time}")
        self.assert_within(time["computing_s"], computed, computed + 0.2, wall, f"{command}: {time}")
        self.assert_within(time["child_wait_s"], 0, 0.03, wall, f"{command}: {time}")
        self.assertIn("work.py", time.get("of", ""))
        self.assertIn("started by", time["of"])
        self.assertEqual(set(self.found(report)) - {"cold_mapping"}, {"long_sleeps"}, report["findings"])

    @thrice
    def test_shells(self):
        self.check("sh", "-c", f"{sys.executable} work.py; true")
        self.check("sh", "-c", f"(cd .; sh -c '{sys.executable} work.py; true'); true")
        self.write("run.sh", f"{sys.executable} work.py 0.3\n{sys.executable} -V\n")
        self.check("sh", "run.sh")

    @thrice
    def test_one_beside_a_server(self):
        """The server is there to be asked; it ends because it is killed."""
        self.check("sh", "-c", f"sleep 60 & {sys.executable} work.py; kill $!; wait")

    @thrice
    def test_tools(self):
        self.write("Makefile", f"all:\n\t@{sys.executable} work.py\n\t@true\n")
        for command in (["timeout", "60"], ["xargs", "-a", "/dev/null"], ["make", "-s"]):
            if shutil.which(command[0]):
                self.check(*command, *([] if command[0] == "make" else [sys.executable, "work.py"]))

    @thrice
    def test_programs_that_wait(self):
        for text in (POLLS, CAPTURES, READS_LINES, WAITS_IN_A_LOOP):
            self.write("start.py", text)
            self.check(sys.executable, "start.py", "work.py")

    @thrice
    def test_of_several_the_one_that_works_most(self):
        self.write("start.py", POLLS)
        _, report, stage = self.run_traced(sys.executable, "start.py", "work.py 0.1", "work.py 1.0")
        worker = max(stage["workers"], key=lambda row: row["cpu_s"] or 0)
        self.assert_within(stage["time"]["computing_s"], 1.0, 1.3, stage["time"]["wall_s"], f"{stage['time']}, {worker}")
        self.assertNotIn("sleep_polling", self.found(report))

    @thrice
    def test_who_has_something_else_to_do(self):
        self.write("start.py", HAS_AN_IDLE_HELPER)
        _, report, stage = self.run_traced(sys.executable, "start.py")
        self.assertIn("sleep_polling", self.found(report))
        self.assertNotIn("of", stage["time"])
        self.write("start.py", ASKS_A_HELPER)
        _, report, stage = self.run_traced(sys.executable, "start.py")
        self.assertGreater(stage["time"]["data_wait_s"], 0.9)
        self.assertNotIn("of", stage["time"])


if __name__ == "__main__":
    unittest.main()
