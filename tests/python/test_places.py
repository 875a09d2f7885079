#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python stack at what took long or was sampled is that of the line that did it, on every CPython."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import pythons

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = """\
import threading, time

class Set:
    def laden(self, i):
        time.sleep(
            0.004)
        return i

    def größe(self):
        return [self.laden(i)
                for i in range(2)]

def numbers():
    yield 1
    time.sleep(0.004)
    yield 2

def thread():
    sum(numbers())

def allocate():
    return bytearray(5_000_000)

if True:
    Set().größe(); t = threading.Thread(target=thread); t.start(); t.join()
big = allocate()
held = [
    allocate() for _ in range(1)]
(lambda: time.sleep(0.004))()
"""


# While it runs, the interpreter's first frame is at an address of which nothing is known, as in a handler that comes in the
# moment in which 3.11 and 3.12 have published what holds it.
TORN = """\
#include <time.h>
#include <unistd.h>
void call(char *thread, long to_holder, long to_frame, unsigned long frame)
{
    unsigned long *place = (unsigned long *)(*(char **)(thread + to_holder) + to_frame), was = *place;
    *place = frame;
    usleep(3000); /* so long that a place is taken */
    *place = was;
}
"""
TEARS = """\
import ctypes, sys
call = ctypes.PyDLL(sys.argv[1]).call
call.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_long, ctypes.c_ulong]
ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_void_p
readable = ctypes.create_string_buffer(b"\\x41" * 4096)
for frame in 0, 8, 0x7fff_ffff_f000, 0x4141_4141_4141_4141, 2**64 - 1, ctypes.addressof(readable):
    call(ctypes.pythonapi.PyThreadState_Get(), 56, 8 if sys.version_info < (3, 12) else 0, frame)
print("whole")
"""
CHUNKS = """\
def made():
    yield 1

def deep(n):
    if n:
        return deep(n - 1)
    for _ in range(150):
        made()

for _ in range(20):
    for depth in range(100, 220):
        deep(depth)
"""


def functions(stack):
    """Without what CPython puts around; the last part of qualified names."""
    return [(line, name.split(".")[-1]) for line, _, name, file in stack if file.endswith("program.py")]


class Places(unittest.TestCase):
    def trace(self, python, text, *arguments, **environment):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="python-places-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "program.py").write_text(text, encoding="utf-8")
        done = pythons.run([python.path, *arguments, str(folder / "program.py")], folder, True, environment=environment)
        self.assertEqual((done.status, done.err), (0, ""), str(python))
        return pythons.dump(folder)

    def test_the_memory_of_a_frame_goes_while_it_is_still_the_innermost(self):
        """A generator that begins where a chunk of frames does: CPython unmaps it before it leaves the frame that was copied away."""
        for python in pythons.found():
            with self.subTest(str(python)):
                self.trace(python, CHUNKS)

    def test_a_first_frame_that_is_torn(self):
        for python in pythons.found():
            if python.version < (3, 11) or python.version >= (3, 13):
                continue
            with self.subTest(str(python)):
                folder = pathlib.Path(tempfile.mkdtemp(prefix="python-torn-"))
                self.addCleanup(shutil.rmtree, folder)
                (folder / "torn.c").write_text(TORN, encoding="ascii")
                subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "torn.so", folder / "torn.c"], check=True)
                done = pythons.run([python.path, "-c", TEARS, str(folder / "torn.so")], folder, True)
                self.assertEqual((done.status, done.out, done.err), (0, "whole\n", ""))

    def test_lines_and_functions(self):
        for python in pythons.found():
            with self.subTest(str(python)):
                places = pythons.places(self.trace(python, PROGRAM))
                slept = [functions(stack) for event, stack in places if re.search(r" wait_(sleep|poll) ", event)]
                slept = [stack for stack in slept if stack]
                # comprehensions are no frames from 3.12 on
                comprehension = [(10, "<listcomp>")] if python.version < (3, 12) else []
                main = [(25, "<module>")]
                laden = [(5, "laden"), *comprehension, (10, "größe"), *main]
                self.assertEqual(slept[:2], [laden, laden])
                self.assertEqual(slept[2], [(15, "numbers"), (19, "thread")])
                self.assertEqual(slept[3], [(29, "<lambda>"), (29, "<module>")])
                samples = [functions(stack) for event, stack in places if " heap_sample " in event and " size_bytes=5000" in event]
                self.assertEqual(samples[0], [(22, "allocate"), (26, "<module>")])
                self.assertEqual((samples[1][0], samples[1][-1]), ((22, "allocate"), (27 if comprehension else 28, "<module>")))

    def test_places_stand_for_the_time_of_short_events(self):
        text = "import os\nfor i in range(20000):\n    os.stat('/')\n"
        python = pythons.found()[-1]
        lines = self.trace(python, text)
        stands = sum(int(ns) for ns in re.findall(r"python_place .*program.py.* stands_for_ns=(\d+)", "\n".join(lines)))
        spent = sum(float(s) for s in re.findall(r"\+(\S+) \S+ meta_stat .*path=\"/\"", "\n".join(lines))) * 1e9
        self.assertGreater(spent, 0)
        self.assertLess(abs(stands - spent), 0.2 * spent + 5e6)

    def test_torture(self):
        """Allocations at a great rate of samples, threads, generators, __del__, deep stacks, exec, forks, a daemon thread."""
        for python in pythons.found():
            folder = pathlib.Path(tempfile.mkdtemp(prefix="python-torture-"))
            self.addCleanup(shutil.rmtree, folder)
            command = [python.path, "-W", "ignore::DeprecationWarning", str(HERE / "torture.py")]
            plain = pythons.run(command, folder, False)
            for environment in {}, {"PROFTRACE_HEAP_SAMPLE_BYTES": "1024", "PYTHONMALLOC": "malloc"}:
                with self.subTest(python=str(python), environment=environment):
                    traced = pythons.run(command, folder, True, environment=environment)
                    self.assertEqual((traced.status, traced.out, traced.err), (plain.status, plain.out, plain.err))
                    lines = pythons.dump(folder)
                    files = {file for _, stack in pythons.places(lines) for _, _, _, file in stack}
                    self.assertIn(str(HERE / "torture.py"), files)
                    names = {name.split(".")[-1] for _, stack in pythons.places(lines) for _, _, name, _ in stack}
                    self.assertTrue(names & {"überholen", "deep", "codes"}, names)
                    shutil.rmtree(folder / "trace")


class Embedded(unittest.TestCase):
    def test_a_program_that_loads_its_python_itself(self):
        """... for its loader only or for all, once or twice, and unloads it."""
        code = "import time, sys; time.sleep(0.004); print(sys.version_info[:2])"
        ask = "import sys; from sysconfig import get_config_var as get; print(sys.base_prefix, get('LIBDIR'), get('INSTSONAME'), sep='\\n')"
        tried = 0
        for python in pythons.found():
            answer = subprocess.run([python.path, "-c", ask], capture_output=True, text=True, check=True).stdout
            prefix, folder, name = answer.splitlines()
            library = f"{folder}/{name}"
            if not pathlib.Path(library).exists() or ".so" not in library:
                continue
            tried += 1
            for scope, times in ("local", "1"), ("global", "1"), ("global", "2"):
                folder = pathlib.Path(tempfile.mkdtemp(prefix="python-embed-"))
                self.addCleanup(shutil.rmtree, folder)
                command = [str(pythons.BUILD / "tests/python/embed"), library, scope, times, code]
                home = {"PYTHONHOME": prefix}
                with self.subTest(python=str(python), scope=scope, times=times):
                    plain = pythons.run(command, folder, False, environment=home)
                    traced = pythons.run(command, folder, True, environment=home)
                    self.assertEqual((traced.status, traced.out, traced.err), (plain.status, plain.out, plain.err))
                    [process] = pythons.processes(folder)
                    self.assertEqual((process.state, process.note), ("ready", ""))
                    slept = [stack for event, stack in pythons.places(pythons.dump(folder)) if re.search(r" wait_(sleep|poll) ", event)]
                    self.assertEqual([stack[0][2] for stack in slept], ["<module>"] * int(times))
        if not tried:
            self.skipTest("no CPython was built with a shared library")


if __name__ == "__main__":
    unittest.main()
