# SPDX-License-Identifier: MIT
"""A training with Keras: fit() with a validation, with data in arrays or from a generator that does not say how much it has.
Prints what the training came to and, by a callback of its own, how many steps, epochs and validations there were.
fails: before, one with an exception in its first step, and one in its validation.

  KERAS_BACKEND=jax|tensorflow|torch keras_fit.py arrays|generator|fails"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy

keras.utils.set_random_seed(7)
random = numpy.random.default_rng(7)
x, y = random.normal(size=(640, 32)).astype("float32"), random.integers(0, 4, 640)
seen = {"steps": 0, "epochs": 0, "validations": 0}


class Seen(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        seen["steps"] += 1

    def on_epoch_end(self, epoch, logs=None):
        seen["epochs"] += 1

    def on_test_end(self, logs=None):
        seen["validations"] += 1


class Broken(keras.Sequential):
    def train_step(self, *_):
        raise ValueError


class BrokenValidation(keras.callbacks.Callback):
    def on_test_batch_end(self, batch, logs=None):
        raise ValueError


def endless():
    while True:
        for at in range(0, 640, 32):
            yield x[at:at + 32], y[at:at + 32]


def made(kind=keras.Sequential):
    model = kind([keras.layers.Input((32,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(4)])
    model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


def failing(model, *more):
    try:
        model.fit(x, y, batch_size=32, validation_split=0.5, verbose=0, callbacks=[Seen(), *more])
    except ValueError:
        return
    raise AssertionError


if sys.argv[1] == "fails":
    failing(made(Broken))
    failing(made(), BrokenValidation())
model = made()
if sys.argv[1] != "generator":
    history = model.fit(x, y, batch_size=32, epochs=3, validation_split=0.25, verbose=0, callbacks=[Seen()])
else:
    history = model.fit(endless(), steps_per_epoch=20, epochs=3, verbose=0, callbacks=[Seen()])
print(json.dumps({**seen, "loss": history.history["loss"]}))
