# SPDX-License-Identifier: MIT
"""T6: four threads make blocks, four others let them go, so every address soon returns in another thread."""
import queue
import threading

ROUNDS = 4000
shelf = queue.Queue(16)


def make():
    for _ in range(ROUNDS):
        shelf.put(bytearray(4241))  # and a zero behind it: 4242
    shelf.put(None)


def let_go():
    while (block := shelf.get()) is not None:
        del block


threads = [threading.Thread(target=work) for work in [make, let_go] * 4]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("handed over", 4 * ROUNDS)
