# SPDX-License-Identifier: MIT
"""A thread makes batches ahead, one at a time, and both sides look every 20 ms whether the other one is ready; the fixed one has a queue."""
import queue
import threading

import planted

BATCHES = 60


def make_batch():
    planted.compute(0.001)
    return bytes(1000)


class Slot:
    """Holds one batch."""

    def __init__(self):
        self.batch, self.never = None, threading.Event()

    def put(self, batch):
        while self.batch is not None:
            self.never.wait(0.02)
        self.batch = batch

    def get(self):
        while self.batch is None:
            self.never.wait(0.02)  # planted here
        batch, self.batch = self.batch, None
        return batch


def train(slot):
    def fill():
        for _ in range(BATCHES):
            slot.put(make_batch())

    threading.Thread(target=fill, daemon=True).start()
    for _ in range(BATCHES):
        slot.get()
        planted.compute(0.003)


def bad():
    train(Slot())


def fixed():
    train(queue.Queue(1))


planted.main(bad, fixed)
