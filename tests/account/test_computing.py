#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Computing in Python and in C under it, with files, sleeps and other programs in between: each within 2 % of the wall time.

Needs samples of the stack. A sample is 10 ms: the runs are long enough that chance is well below what is asked for.
"""
import sys
import unittest

from account_case import AccountCase, thrice

PROGRAM = """
import hashlib, os, threading, time, zlib
took, known_cpu = {}, 0
def timed(part, action, clock=time.thread_time):
    global known_cpu
    start, cpu_start = clock(), time.thread_time()
    action()
    known_cpu += time.thread_time() - cpu_start
    if part: took[part] = took.get(part, 0) + clock() - start
def python(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        a = 0
        for i in range(20000):
            a += i * i % 7
data, zeros = os.urandom(1 << 22), bytes(1 << 22)
def compress(seconds): # to next to nothing: copying what comes out is the interpreter's own code
    until = time.thread_time() + seconds
    while time.thread_time() < until: zlib.compress(zeros, 6)
def digest(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until: hashlib.sha256(data).digest()
def files(seconds, path):
    until = time.monotonic() + seconds
    buffer = bytearray(1 << 20)
    while time.monotonic() < until:
        fd = os.open(path, os.O_RDONLY)
        while os.readv(fd, [buffer]): pass
        os.close(fd)
"""


class Computing(AccountCase):
    @thrice
    def check(self, body):
        output, _, stage = self.run_traced("/usr/bin/python3", "-S", "-c",
                                           PROGRAM + body + "\nprint('untimed', time.process_time() - known_cpu)"
                                           "\nfor part, s in took.items(): print(part, s)")
        time = stage["time"]
        if time["python_s"] is None:
            self.skipTest(time["python_s_reason"])
        said = {part: float(s) for part, s in (line.split() for line in output.splitlines())}
        # Starting the interpreter and making the data are of either kind, and take as long as the machine needs.
        untimed_s = said.pop("untimed")
        for part, s in said.items():
            # Samples of 10 ms leave chance; the interpreter's end is in none of the program's clocks.
            other_s = 0.02 if part == "sleep" else untimed_s + 0.02
            self.assert_within(time[part + "_s"], s - 0.01, s + other_s, time["wall_s"],
                               f"{part}: {time}, said: {said}, and {untimed_s}")

    def test_python(self):
        self.check("timed('python', lambda: python(2))")

    def test_c_called_by_python(self):
        self.check("timed('native', lambda: compress(1)); timed('native', lambda: digest(1))")

    def test_both(self):
        self.check("for i in range(20):\n  timed('python', lambda: python(0.1)); timed('native', lambda: compress(0.07))")

    def test_both_beside_reading_from_memory(self):
        """Reading takes the CPU, too: what it takes belongs to the files, and its samples tell nothing of the rest."""
        self.check("open('data', 'wb').write(data * 8)\n"
                   "timed('sleep', lambda: time.sleep(0.3), time.monotonic)\n"
                   "for i in range(10):\n"
                   "  timed('python', lambda: python(0.1)); timed(None, lambda: files(0.1, 'data')); timed('native', lambda: digest(0.1))")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
