# SPDX-License-Identifier: MIT
"""A thread makes a batch at a time, and the coroutine that trains looks every 20 ms whether there is one; in the fixed one the
thread wakes it. A coroutine that sleeps is in no stack: the place is where the loop runs."""
import asyncio
import hashlib
import threading

import planted

BATCHES, FILE = 40, bytes(16 << 20)


def make_batch():
    digest = hashlib.sha256()
    for _ in range(3):
        digest.update(FILE)
    return digest.digest()


class Slot:
    """Holds one batch."""

    def __init__(self, loop):
        self.loop, self.batch = loop, None
        self.is_empty, self.is_full = threading.Semaphore(1), asyncio.Event()

    def fill(self):
        for _ in range(BATCHES):
            self.is_empty.acquire()
            self.batch = make_batch()
            self.loop.call_soon_threadsafe(self.is_full.set) if self.wakes else None

    def take(self):
        batch, self.batch = self.batch, None
        self.is_full.clear()
        self.is_empty.release()
        return batch


class Polled(Slot):
    wakes = False

    async def get(self):
        while self.batch is None:
            await asyncio.sleep(0.02)
        return self.take()


class Awaited(Slot):
    wakes = True

    async def get(self):
        await self.is_full.wait()
        return self.take()


async def train(kind):
    slot = kind(asyncio.get_running_loop())
    threading.Thread(target=slot.fill, daemon=True).start()
    for _ in range(BATCHES):
        await slot.get()
        planted.compute(0.003)


planted.main(lambda: asyncio.run(train(Polled)), lambda: asyncio.run(train(Awaited)))
