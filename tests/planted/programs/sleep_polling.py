# SPDX-License-Identifier: MIT
"""Looks every 25 ms whether a thread has finished an item; the fixed one waits for the item."""
import queue
import threading
import time

import planted

ITEMS = 80


def bad():
    done = []
    for i in range(ITEMS):
        threading.Thread(target=done.append, args=(i,)).start()
        while True:
            time.sleep(0.025)  # planted here
            if len(done) > i:
                break


def fixed():
    done = queue.Queue()
    for i in range(ITEMS):
        threading.Thread(target=done.put, args=(i,)).start()
        done.get()


planted.main(bad, fixed)
