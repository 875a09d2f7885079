# SPDX-License-Identifier: MIT
"""Healthy: asks its threads every 10 ms whether they are done, as joblib does. What they compute takes the time, not the asking."""
import hashlib
import threading
import time

import planted


def compute():
    block = bytes(1 << 20)
    for _ in range(2000):
        hashlib.sha256(block).digest()


def work():
    threads = [threading.Thread(target=compute) for _ in range(1)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.01)


planted.main(work, work)
