# SPDX-License-Identifier: MIT
"""Trainings with Keras on each of its backends: the same losses with and without us, and the steps, epochs and validations that
Keras itself told a callback of. Needs Keras, which PyPI has: scripts/test-slow puts it into a folder of its own
(PROFTRACE_TEST_KERAS is the interpreter)."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from traced import BUILD, PROGRAMS, environment

PYTHON = os.environ.get("PROFTRACE_TEST_KERAS")
BACKENDS = "jax", "tensorflow", "torch"


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


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
