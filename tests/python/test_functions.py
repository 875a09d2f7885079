#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PROFTRACE_PYTHON_FUNCTIONS: each call of the named functions, and no other one, on every CPython."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import pythons
import traced

MODULE = """\
import time

def go(n):
    time.sleep(0.001)
    if n == 2:
        raise ValueError
    return other(n)

def other(n):
    return n

class Kind:
    def method(self):
        return 1

    @classmethod
    def of_class(cls):
        return cls

    @staticmethod
    def alone():
        return 2
"""
PROGRAM = """\
import inspect, json, named
from named import go

def main(n):
    return n

def numbers():
    yield 1
    yield 2

for n in range(4):
    try:
        go(n)
    except ValueError as error:
        print(len(str(error.__traceback__.tb_next.tb_frame.f_code.co_name)) > 0)
named.Kind().method(), named.Kind.of_class(), named.Kind.alone(), json.dumps({}), main(1), list(numbers()), named.other(7)
print(go.__name__, inspect.signature(go), named.Kind.alone.__qualname__)
"""

# What can be called, and with which a program does more.
KINDS = """\
import functools, math

class Net:
    size = property(lambda self: 3)
    def __init__(self, n):
        self.n = n
    def __call__(self, n):
        return n
    absolute = abs
    upper = str.upper

@functools.lru_cache(None)
def load(n):
    return n

async def predict(n):
    return n

def numbers():
    yield 1

net = Net(1)
half = functools.partial(pow, 2)
root = math.sqrt
"""
USES_OF_KINDS = """\
import asyncio, inspect, named

class Sub(named.Net):
    def __init__(self):
        super(named.Net, self).__init__()
        named.Net.__init__(self, 2)

sub = Sub()
print(isinstance(sub, named.Net), sub.size + 1, named.load(3), named.load(3), named.load.cache_info().hits, named.net.n, named.net(4))
print(named.half.args, named.half(3), named.Net(5).absolute(-2), named.root(9), named.Net.__mro__[-1])
print(inspect.iscoroutinefunction(named.predict), inspect.isgeneratorfunction(named.numbers), asyncio.run(named.predict(3)), *named.numbers())
"""

# Each time a code object of its own, and all of them equal. Those of another module are equal, too, and not meant.
AGAIN = """\
import importlib, shutil, sys, named

def fails(function):
    try:
        function(2)
    except ValueError:
        pass

for n in range(3):
    named.go(n if n != 2 else 5)
    fails(named.go)
    importlib.reload(named)
shutil.copy(named.__file__, sys.path[0] + "/other.py")
import other
print(other.go(1), other.go.__code__ == named.go.__code__)
"""


class Functions(unittest.TestCase):
    def play(self, python, names, module=MODULE, program=PROGRAM, prefix="tmp"):
        with tempfile.TemporaryDirectory(prefix=prefix) as folder:
            pathlib.Path(folder, "named.py").write_text(module, encoding="ascii")
            pathlib.Path(folder, "program.py").write_text(program, encoding="ascii")
            command = [python.path, f"{folder}/program.py"]
            base = {key: value for key, value in os.environ.items() if not key.startswith("PROFTRACE_")}
            plain = subprocess.run(command, capture_output=True, text=True, env=base, timeout=60, check=False)
            more = {"LD_PRELOAD": str(pythons.LIBRARY), "PROFTRACE_DIR": f"{folder}/data", "PROFTRACE_PYTHON_FUNCTIONS": names}
            done = subprocess.run(command, capture_output=True, text=True, env={**base, **more}, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (plain.returncode, plain.stdout, plain.stderr))
            text = subprocess.run([pythons.BUILD / "proftrace", "dump", f"{folder}/data/latest"], capture_output=True, text=True, check=True).stdout
        phases, is_open = traced.phases_in(text)
        self.assertEqual(is_open, 0)
        return [phase for phase in phases if phase.name == "function"]

    def test_each_call_is_a_phase(self):
        names = "named:go,named:Kind.method, named:Kind.of_class,named:Kind.alone,json:dumps,named:missing,nothing:at_all,nonsense"
        for python in pythons.found():
            with self.subTest(str(python)):
                phases = self.play(python, names)
                self.assertEqual([phase.label for phase in phases], ["go"] * 4 + ["Kind.method", "Kind.of_class", "Kind.alone", "dumps"])
                self.assertEqual([phase.outcome for phase in phases[:4]], ["done", "done", "raised", "done"])
                self.assertTrue(all(phase.end_s - phase.begin_s >= 0.001 for phase in phases[:4]))

    def test_names_that_are_no_utf8(self):
        """The run directory's, and one in the option."""
        for python in pythons.found():
            with self.subTest(str(python)):
                phases = self.play(python, "named:go,\udcff:x", prefix="bad\udcff")
                self.assertEqual([phase.label for phase in phases], ["go"] * 4)

    def test_the_scripts_own_functions_too_where_cpython_tells_of_them(self):
        for python in pythons.found():
            if python.version >= (3, 12):
                with self.subTest(str(python)):
                    phases = self.play(python, "__main__:main,program:numbers")
                    # a generator between each two yields
                    self.assertEqual([phase.label for phase in phases], ["main", "numbers", "numbers", "numbers"])

    def test_a_module_that_runs_again(self):
        for python in pythons.found():
            with self.subTest(str(python)):
                phases = self.play(python, "named:go", program=AGAIN)
                runs = 3 if python.version >= (3, 12) else 1  # before, what stands in place of a function is replaced, too
                self.assertEqual([(phase.label, phase.outcome) for phase in phases], [("go", "done"), ("go", "raised")] * runs)

    def test_what_is_no_function_stays(self):
        names = ",".join("named:" + name for name in ("Net", "Net.size", "Net.absolute", "load", "net", "half", "root", "Net.__init__", "predict", "numbers"))
        for python in pythons.found():
            with self.subTest(str(python)):
                labels = [phase.label for phase in self.play(python, names, KINDS, USES_OF_KINDS)]
                seen_by_monitoring = ["Net.__init__", "load", "predict", "numbers", "numbers"] if python.version >= (3, 12) else []
                self.assertEqual(sorted(labels), sorted(["Net.__init__", "Net.__init__", "root", *seen_by_monitoring]))


if __name__ == "__main__":
    unittest.main()
