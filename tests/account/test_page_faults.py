#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Waits for pages of a mapped file: what the account calls page faults is what the program's own clock says.

Touching takes the time on the CPU (the faults' own work, and switching to the thread and from it), the time in run queues, and the
rest, which is the wait for the disk.
"""
import os
import subprocess
import sys
import unittest

from account_case import BUILD, AccountCase, stolen_s, thrice

TOUCHES = os.environ.get("ACCOUNT_TOUCHES", os.path.join(BUILD, "tests", "account", "account_touches"))
PAGES = 8000


class PageFaults(AccountCase):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.folder, "mapped")
        made = subprocess.run([TOUCHES, self.file, str(PAGES)], stdout=subprocess.PIPE, text=True, check=True, timeout=120)
        if int(dict(line.split() for line in made.stdout.splitlines())["major"]) < PAGES // 2:
            self.skipTest(f"{self.folder} lies in memory, or its disk is: no page is ever missing")

    @thrice
    def test_a_cold_file(self):
        taken_s = stolen_s()
        output, report, stage = self.run_traced(TOUCHES, self.file, str(PAGES))
        taken_s = stolen_s() - taken_s
        said = {name: int(value) / 1e9 for name, value in (line.split() for line in output.splitlines())}
        time = stage["time"]
        if time["page_fault_s"] is None:
            self.skipTest(time["page_fault_s_reason"])
        wall, off = time["wall_s"], said["touching"] - said["on_cpu"]
        self.assert_within(time["page_fault_s"], off - said["queued"] - taken_s, off, wall, f"{time}, said: {said}")
        self.assert_within(time["native_s"], said["on_cpu"], said["on_cpu"] + 0.01, wall, f"{time}, said: {said}")
        if time["page_fault_s"] > 0.5:  # less is not worth a word
            finding = next(finding for finding in report["findings"] if finding["rule"] == "cold_mapping")
            self.assertGreaterEqual(finding["evidence"]["major_fault_calls"], said["major"] * 1e9 - 1)
        parts = time["page_fault_s"] + time["native_s"] + time["runnable_s"]
        self.assert_within(parts, said["touching"], said["touching"] + 0.03, wall, f"{time}, said: {said}")

    @thrice
    def test_pages_that_a_call_needs_are_part_of_the_call(self):
        body = ("import mmap, os, sys, time\n"
                "fd = os.open(sys.argv[1], os.O_RDWR); os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)\n"
                "data = mmap.mmap(fd, 0); out = os.open(sys.argv[1] + '.copy', os.O_WRONLY | os.O_CREAT)\n"
                "start = time.monotonic()\n"
                "os.write(out, data)\n"
                "print(time.monotonic() - start)")
        output, _, stage = self.run_traced("/usr/bin/python3", "-S", "-c", body, self.file)
        time = stage["time"]
        written = (time["file_write_s"] or 0) + (time["runnable_s"] or 0)
        self.assert_within(written, float(output) * 0.9, float(output) + time["wall_s"] * 0.1, time["wall_s"], str(time))
        self.assertLess(time["page_fault_s"] or 0, 0.1 * time["wall_s"], time)

    @thrice
    def test_a_stopped_program_misses_no_page(self):
        body = ("import os, signal, time\n"
                "me = os.getpid()\n"
                "if os.fork() == 0:\n"
                "    for number, s in ((signal.SIGSTOP, 0.6), (signal.SIGCONT, 0)):\n"
                "        time.sleep(0.2); os.kill(me, number); time.sleep(s)\n"
                "    os._exit(0)\n"
                "until = time.process_time() + 0.6\n"
                "while time.process_time() < until: sum(range(100000))\n"
                "os.wait()")
        _, _, stage = self.run_traced("/usr/bin/python3", "-S", "-c", body)
        self.assertLess(stage["time"]["page_fault_s"] or 0, 0.1, stage["time"])

    @thrice
    def test_what_is_in_memory_is_no_wait(self):
        body = ("import mmap, os, sys\n"
                "fd = os.open(sys.argv[1], os.O_RDWR); size = os.fstat(fd).st_size\n"
                "while os.read(fd, 1 << 20): pass\n"
                "data = mmap.mmap(fd, 0)\n"
                "sum(data[i] for i in range(0, size, 4096))")
        _, _, stage = self.run_traced("/usr/bin/python3", "-S", "-c", body, self.file)
        self.assertLess(stage["time"]["page_fault_s"] or 0, 0.02 * stage["time"]["wall_s"] + 0.02, stage["time"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
