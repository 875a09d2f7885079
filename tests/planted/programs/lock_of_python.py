# SPDX-License-Identifier: MIT
"""Four threads write out their results under one threading.Lock (a device that takes 20 ms); the fixed one holds it for the count only."""
import threading
import time

import planted

lock = threading.Lock()
done = []


def under_the_lock():
    with lock:  # planted here
        time.sleep(0.02)  # planted here
        done.append(1)


def before_the_lock():
    time.sleep(0.02)
    with lock:
        done.append(1)


def run(write):
    def work():
        for _ in range(20):
            write()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()


planted.main(lambda: run(under_the_lock), lambda: run(before_the_lock))
