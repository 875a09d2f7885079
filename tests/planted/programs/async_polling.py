# SPDX-License-Identifier: MIT
"""A thread makes a batch at a time, and the coroutine that trains looks every 20 ms whether there is one; in the fixed one the
thread wakes it. A coroutine that sleeps is in no stack: the place is where the loop runs. A batch is ready in the middle between two looks, on
any machine (--prepare): where it was ready just before one, there would be nothing to gain."""
import asyncio
import hashlib
import threading

import planted

BATCHES, EVERY_S, LOOKS, TRAIN_S = 40, 0.02, 2.5, 0.003
FILE = bytes(16 << 20)


def digest_of(n_bytes):
    digest = hashlib.sha256()
    while n_bytes > 0:
        digest.update(memoryview(FILE)[:n_bytes])
        n_bytes -= len(FILE)
    return digest.digest()


class Slot:
    """Holds one batch."""

    def __init__(self, loop):
        self.loop, self.batch = loop, None
        self.is_empty, self.is_full = threading.Semaphore(1), asyncio.Event()

    def fill(self):
        n_bytes = planted.kept_amount()
        for _ in range(BATCHES):
            self.is_empty.acquire()
            self.batch = digest_of(n_bytes)
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
            await asyncio.sleep(EVERY_S)
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
        planted.compute(TRAIN_S)


def prepare():
    train_s, file_s = planted.seconds_of(planted.compute, TRAIN_S), planted.seconds_of(digest_of, len(FILE))
    planted.keep_amount(int(len(FILE) * (train_s + LOOKS * EVERY_S) / file_s))


planted.main(lambda: asyncio.run(train(Polled)), lambda: asyncio.run(train(Awaited)), prepare)
