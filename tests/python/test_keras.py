# SPDX-License-Identifier: MIT
"""Trainings with Keras on each of its backends: the same losses with and without us, and the steps, epochs and validations that
Keras itself told a callback of. Needs Keras, which PyPI has: scripts/test-slow puts it into a folder of its own
(PROFTRACE_TEST_KERAS is the interpreter)."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import pythons
import traced
from traced import BUILD, PROGRAMS, environment

PYTHON = os.environ.get("PROFTRACE_TEST_KERAS")
BACKENDS = "jax", "tensorflow", "torch"
# What Keras is where we look at it, for those who have none.
STAND_IN = {
    "absl/__init__.py": "",
    "absl/flags/__init__.py": "",
    "absl/flags/_flagvalues.py": """\
import sys

class ReloadDetector:
    def find_spec(self, name, path, target=None):
        return None

sys.meta_path.insert(-1, ReloadDetector())
""",
    "keras/__init__.py": "import absl.flags._flagvalues",
    "keras/src/__init__.py": "",
    "keras/src/callbacks/__init__.py": "",
    "keras/src/callbacks/callback_list.py": "class CallbackList:\n" + "".join(
        f"    def on_{name}(self, {more}logs=None):\n        pass\n"
        for name, more in (("train_begin", ""), ("train_end", ""), ("epoch_begin", "epoch, "), ("epoch_end", "epoch, "), ("train_batch_begin", "batch, "),
                           ("train_batch_end", "batch, "), ("test_begin", ""), ("test_end", ""))),
    "keras/src/backend/__init__.py": "",
    "keras/src/backend/torch/__init__.py": "",
    "keras/src/backend/torch/trainer.py": """\
from keras.src.callbacks.callback_list import CallbackList

class TorchTrainer:
    def fit(self, steps, fails_in=None):
        callbacks = CallbackList()
        callbacks.on_train_begin()
        callbacks.on_epoch_begin(0)
        for step in range(steps):
            callbacks.on_train_batch_begin(step)
            if fails_in == "step":
                raise KeyboardInterrupt
            callbacks.on_train_batch_end(step)
        callbacks.on_test_begin()
        if fails_in == "validation":
            raise MemoryError
        callbacks.on_test_end()
        callbacks.on_epoch_end(0)
        callbacks.on_train_end()
        return steps
""",
    "keras/src/backend/jax/__init__.py": "",
    "keras/src/backend/jax/trainer.py": """\
class JAXEpochIterator:
    data_adapter = None

    def __init__(self, batches):
        self.batches = batches

    def _get_iterator(self):
        return self.batches
""",
    "program.py": """\
from keras.src.backend.jax.trainer import JAXEpochIterator
from keras.src.backend.torch.trainer import CallbackList, TorchTrainer

for fails_in in "step", "validation", None:
    try:
        print(TorchTrainer().fit(2, fails_in=fails_in))
    except BaseException as error:
        print(type(error))
CallbackList().on_test_begin()  # evaluate() outside of a training
callbacks = CallbackList()
callbacks.on_epoch_begin(epoch=7, logs={})  # a loop of the program's own
try:
    callbacks.on_epoch_begin()
except TypeError as error:
    print(error)
callbacks.on_train_begin()
scope = {}
exec('Batch = type("Batch", (), {})', scope)  # of no module: the scope has no __name__
print(sum(1 for _ in JAXEpochIterator([scope["Batch"](), (1, 2)])._get_iterator()))
callbacks.on_train_end()
""",
    "adapters.py": """\
from keras.src.backend.jax.trainer import JAXEpochIterator
from keras.src.callbacks.callback_list import CallbackList

class Data:
    def __init__(self, workers):
        self._workers = workers

    @property
    def workers(self):
        print("asked")

class Curious(Data):
    def __getattribute__(self, name):
        print("asked of", name)
        raise RuntimeError

class Batches:
    def __iter__(self):
        raise KeyboardInterrupt

class Int(int):
    pass

def iterate(kind, **fields):
    batches = JAXEpochIterator([1, 2])
    batches.data_adapter = type(kind, (), {})()
    batches.data_adapter.__dict__.update(fields)
    print(sum(batches._get_iterator()))

CallbackList().on_train_begin()
iterate("PyDatasetAdapter", enqueuer=None, py_dataset=Data(1))
iterate("PyDatasetAdapter", enqueuer=iterate, py_dataset=Data(8))
iterate("PyDatasetAdapter", enqueuer=iterate, py_dataset=Curious(4))
iterate("PyDatasetAdapter", enqueuer=iterate, py_dataset=Data(Int(8)))
batches = JAXEpochIterator(Batches())
batches.data_adapter = type("GeneratorDataAdapter", (), {})()
try:
    sum(batches._get_iterator())
except KeyboardInterrupt:
    print("interrupted")
for kind in "TFDatasetAdapter", "ArrayDataAdapter", "TorchDataLoaderAdapter":
    iterate(kind)
"""}


def fit(backend, data, **more):
    done = subprocess.run([PYTHON, str(PROGRAMS / "keras_fit.py"), data], capture_output=True, text=True, timeout=600, check=False,
                          env=environment(KERAS_BACKEND=backend, TF_ENABLE_ONEDNN_OPTS="0", **more))
    if done.returncode:
        raise AssertionError(f"{backend}: exit {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def reported(backend, data):
    with tempfile.TemporaryDirectory() as folder:
        result = fit(backend, data, LD_PRELOAD=str(BUILD / "libproftrace.so"), PROFTRACE_DIR=folder)
        text = subprocess.run([BUILD / "proftrace", "report", f"{folder}/latest", "--format", "json"], capture_output=True, text=True, check=True)
        return result, json.loads(text.stdout)["stages"][0]["training"]


@unittest.skipUnless(PYTHON, "PROFTRACE_TEST_KERAS names no interpreter with Keras")
class Keras(unittest.TestCase):
    def each(self, data, check):
        for backend in BACKENDS:
            with self.subTest(backend=backend, data=data):
                if subprocess.run([PYTHON, "-c", f"import keras, {backend}"], capture_output=True, env=environment(KERAS_BACKEND=backend), check=False).returncode:
                    self.skipTest(f"no keras with {backend}")
                result, training = reported(backend, data)
                self.assertEqual(result, fit(backend, data))
                check(backend, result, training)

    def test_fit_on_arrays_with_a_validation_after_each_epoch(self):
        def check(backend, result, training):
            self.assertEqual((training["steps"], training["epochs"]), (result["steps"], result["epochs"]), backend)
            self.assertEqual(len(training["validations"]), result["validations"], backend)
            self.assertEqual(training["phases"]["train_step"]["calls"], result["steps"])
            if backend != "tensorflow":  # which reads its data inside of the step
                self.assertGreater(training["samples_per_s"], 0)
                self.assertGreater(training["dataloader_time_pct"], 0)

        self.each("arrays", check)

    def test_fit_on_a_generator_that_never_ends(self):
        def check(backend, result, training):
            self.assertEqual((training["steps"], training["epochs"]), (result["steps"], result["epochs"]), backend)

        self.each("generator", check)

    def test_fit_after_some_that_failed(self):
        def check(backend, result, training):
            self.assertEqual((training["steps"], training["epochs"]), (result["steps"], result["epochs"] + 2), backend)  # two epochs did not end
            self.assertEqual(len(training["validations"]), result["validations"] + 1, backend)

        self.each("fails", check)


class StandIn(unittest.TestCase):
    def traces(self, program):
        """By interpreters."""
        texts = {}
        for python in pythons.some():
            with self.subTest(str(python)), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                for file, text in STAND_IN.items():
                    (folder / file).parent.mkdir(parents=True, exist_ok=True)
                    (folder / file).write_text(text, encoding="ascii")
                plain, done = (pythons.run([python.path, program], folder, is_traced) for is_traced in (False, True))
                self.assertEqual((done.status, done.out, done.err), (plain.status, plain.out, plain.err))
                self.assertEqual(done.status, 0)
                texts[str(python)] = "\n".join(pythons.dump(folder))
        return texts

    def test_who_makes_batches_ahead(self):
        for python, text in self.traces("adapters.py").items():
            phases, is_open = traced.phases_in(text)
            self.assertEqual(is_open, 0, python)
            self.assertEqual([(phase.label, phase.amount, phase.outcome) for phase in phases if phase.name == "loader_start"],
                             [("PyDatasetAdapter", 0, "done"), ("PyDatasetAdapter", 8, "done"), ("PyDatasetAdapter", 4, "done"),
                              ("PyDatasetAdapter", 2**32 - 1, "done"), ("GeneratorDataAdapter", 0, "raised"), ("TFDatasetAdapter", 2**32 - 1, "done"),
                              ("ArrayDataAdapter", 0, "done")], python)

    def test_what_is_open_ends_with_a_fit_that_fails(self):
        for python, text in self.traces("program.py").items():
            self.assertRegex(text, r"(?m)^\S+ \S+ epoch .*\b7\b", python)
            phases, is_open = traced.phases_in(text)
            self.assertEqual(is_open, 0, python)
            self.assertEqual([(phase.name, phase.outcome) for phase in phases if phase.name in ("train_step", "validation")],
                             [("train_step", "raised"), ("train_step", "done"), ("train_step", "done"), ("validation", "raised"),
                              ("train_step", "done"), ("train_step", "done"), ("validation", "done")], python)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
