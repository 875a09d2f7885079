#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Signals, imports and collections of a program go as without the library: what it prints says so, on every CPython."""
import pathlib
import subprocess
import tempfile
import unittest

import pythons

# A signal in the middle of each collection, whose handler raises: what is lost is never caught, and the next round begins.
ALARM_IN_COLLECTION = """\
import gc, signal
data = [[i] for i in range(300_000)]
fired = caught = 0
def late(*_):
    global fired
    fired += 1
    raise TimeoutError
signal.signal(signal.SIGALRM, late)
for n in range(1, 21):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        gc.collect()
        while fired < n:
            pass
    except TimeoutError:
        caught += 1
print(fired, caught)
"""
# With no depth left for a call, neither is there one for a function of ours.
COLLECTION_AT_THE_LIMIT = """\
import gc
def deeper(least):
    try:
        deeper(least)
    except RecursionError:
        pass
    if least:
        gc.collect(least.pop())
try:
    deeper([2, 1, 2])
except RecursionError:
    pass
print("done")
"""
PROFILED_COLLECTION = """\
import gc, sys
seen = []
def see(frame, event, argument):
    seen.append((frame.f_code.co_filename, frame.f_code.co_name, event, getattr(argument, "__name__", None)))
sys.setprofile(see)
gc.collect()
sys.setprofile(None)
sys.settrace(see)
gc.collect()
sys.settrace(None)
print(seen)
"""
# As pytest and monkeypatch do. What was imported first, and whether it is there, is another thing each time.
RESTORED_FINDERS = """\
import sys
saved = sys.meta_path[:]
for name in "sympy", "nothing", "triton", "cv2", "sympy", "json":
    sys.modules.pop(name, None)
    try:
        print(__import__(name).__name__, all(finder in sys.meta_path for finder in saved))
    except ImportError as error:
        print(error)
    sys.meta_path[:] = saved
"""
# Finders of the program, before the interpreter's and behind: each is asked once, in their order, and gets what it has always got.
FINDERS_OF_THE_PROGRAM = """\
import sys, traceback, warnings
from importlib.machinery import ModuleSpec
warnings.simplefilter("ignore")  # find_module is old
class Finder:
    def __init__(self, name):
        self.name = name
    def find_spec(self, name, path=None, target=None):
        print(self.name, "is asked for", name)
        if name == "cv2" or name == "jax" and self.name == "last":
            raise ImportError(f"{self.name} blocks it")
class Loader:
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        print("the program's own", module.__name__)
class Old:
    def find_module(self, name, path=None):
        print("old is asked for", name)
        return self if name == "sympy" else None
    def load_module(self, name):
        sys.modules[name] = module = type(sys)(name)
        module.__loader__ = self
        print("old finds it")
        return module
import triton
sys.meta_path[:0] = [Finder("first"), Old()]
sys.meta_path.append(Finder("last"))
sys.meta_path.append(type("Own", (), {"find_spec": lambda name, path, target=None: ModuleSpec(name, Loader()) if name == "pandas" else None}))
for name in "sympy", "cv2", "triton", "jax", "datasets", "pandas":
    sys.modules.pop(name, None)
    try:
        print(__import__(name).__name__)
    except ImportError:
        traceback.print_exc(file=sys.stdout)
"""
# Of a module that is never imported, then of one that is.
SPECS = """\
import copy, importlib.util, pickle
def of(name):
    return importlib.util.find_spec(name)
for name in "sympy", "triton":
    copies = [pickle.loads(pickle.dumps(of(name))), copy.copy(of(name)), copy.deepcopy(of(name)), pickle.loads(pickle.dumps(copy.deepcopy(of(name))))]
    for one in [of(name), *copies]:
        print(one == of(name), of(name) == one, one.loader == of(name).loader, hash(one.loader) == hash(of(name).loader), type(one.loader).__name__)
print(of("sympy").loader == of("triton").loader, of("sympy").loader == None, pickle.loads(pickle.dumps(of("sympy").loader.exec_module)).__name__)
for one in [of("triton"), *copies]:
    module = importlib.util.module_from_spec(one)
    one.loader.exec_module(module)
    print(module)
"""
# In each child the alarm comes a little later. What is raised in importlib's own callbacks of weak references is always dropped.
ALARM_IN_IMPORT = """\
import os, signal
armed, fired, caught = False, 0, 0
class Late({base}):
    pass
def late(number, frame):
    global armed, fired
    if armed and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        armed = False
        fired += 1
        raise Late
signal.signal(signal.SIGALRM, late)
statuses = set()
for n in range(1, 40):
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_REAL, n * 1e-4)
        try:
            armed = True
            import sympy
            armed = False
        except Late:
            caught += 1
        os._exit(fired != caught)
    statuses.add(os.waitpid(child, 0)[1])
print(statuses)
"""
# A batch that is looked through for long, and made in no time.
ALARM_IN_BATCH = """\
import signal, torch
from torch.utils.data import DataLoader
loader = DataLoader([{str(n): str(n) for n in range(16)}] * 100_000, batch_size=None, collate_fn=lambda batch: batch)
armed, fired, caught = False, 0, 0
def late(number, frame):
    global armed, fired
    if armed:
        armed = False
        fired += 1
        raise TimeoutError
signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
for n in range(100):
    batches = iter(loader)
    try:
        armed = True
        while fired == n:
            next(batches)
    except TimeoutError:
        caught += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(fired, caught)
"""
# A method of a class may be called without an object, which is an error of its own kind, or with it as `self=`.
WITHOUT_AN_OBJECT = """\
import torch
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler(enabled=False)
for kind, name, object in ((torch.nn.Linear, "to", model), (torch.nn.Linear, "__call__", model), (torch.nn.Linear, "cpu", model),
                           (torch.optim.SGD, "step", optimizer), (torch.optim.SGD, "zero_grad", optimizer),
                           (torch.cuda.amp.GradScaler, "step", scaler), (torch.cuda.amp.GradScaler, "unscale_", scaler), (torch.Tensor, "backward", torch.ones(1))):
    for named in {}, {"self": object}:
        try:
            print(name, sorted(named), type(getattr(kind, name)(**named)))
        except Exception as error:
            print(name, sorted(named), type(error))
"""


class HostSafety(unittest.TestCase):
    def same(self, program, interpreters=None):
        for python in interpreters or pythons.found():
            with self.subTest(python=str(python)), tempfile.TemporaryDirectory() as folder:
                command = [python.path, "-c", program]
                for name in "sympy", "triton":  # that proftrace waits for
                    pathlib.Path(folder, f"{name}.py").touch()
                plain, traced = (pythons.run(command, pathlib.Path(folder), is_traced) for is_traced in (False, True))
                self.assertEqual(traced, plain)
                self.assertEqual((plain.status, plain.err), (0, ""))

    def with_torch(self):
        those = [python for python in pythons.found() if subprocess.run([python.path, "-c", "import torch"], capture_output=True, check=False).returncode == 0]
        if not those:
            self.skipTest("no CPython here has PyTorch")
        return those

    def test_what_a_handler_raises_in_a_collection_reaches_the_program(self):
        self.same(ALARM_IN_COLLECTION)

    def test_a_collection_at_the_limit_of_recursion_says_nothing(self):
        self.same(COLLECTION_AT_THE_LIMIT)

    def test_a_collection_calls_nothing_that_a_profiler_sees(self):
        self.same(PROFILED_COLLECTION)

    def test_finders_that_were_saved_can_be_put_back(self):
        self.same(RESTORED_FINDERS)

    def test_finders_of_the_program_are_asked_as_ever(self):
        self.same(FINDERS_OF_THE_PROGRAM)

    def test_specs_are_equal_and_can_be_copied(self):
        self.same(SPECS)

    def test_what_a_handler_raises_in_a_script_of_ours_reaches_the_program(self):
        for base in "Exception", "BaseException":
            self.same(ALARM_IN_IMPORT.format(base=base))

    def test_what_a_handler_raises_while_we_look_at_a_batch_reaches_the_program(self):
        self.same(ALARM_IN_BATCH, self.with_torch())

    def test_a_method_without_its_object(self):
        self.same(WITHOUT_AN_OBJECT, self.with_torch())


if __name__ == "__main__":
    unittest.main()
