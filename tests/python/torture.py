# SPDX-License-Identifier: MIT
# All that moves frames, at once, while every allocation and each short wait may be looked at. Prints what must not change.
import os
import sys
import threading
import time

sys.setrecursionlimit(3000)
ROUNDS = 30


class Dies:
    def __del__(self):
        bytearray(70000)
        time.sleep(0)


def numbers(n):
    for i in range(n):
        Dies()
        yield i


def deep(n):
    return bytearray(100000) if n == 0 else deep(n - 1)


def überholen(text):
    time.sleep(0.0001)
    return len(text)


def codes(i):
    names = {}
    exec(compile(f"def made(x):\n    import time\n    time.sleep(0)\n    return bytearray(x)\n", f"<made {i}>", "exec"), names)
    return len(names["made"](90000))


async def waits():
    return überholen("ä€😀")


def one(results, index):
    total = 0
    for i in range(ROUNDS):
        total += sum(numbers(20)) + len(deep(200 + i)) + codes(i) + überholen("x" * i)
        total += sum(map(lambda x: überholen(str(x)), [1, 22, 333]))
        try:
            waits().send(None)
        except StopIteration as stop:
            total += stop.value
        try:
            {}["nothing"]
        except KeyError:
            bytearray(80000)
    results[index] = total


def forever():
    while True:
        time.sleep(0.0005)


results = [0] * 4
threads = [threading.Thread(target=one, args=(results, i)) for i in range(len(results))]
threading.Thread(target=forever, daemon=True).start()
for thread in threads:
    thread.start()
for i in range(5):
    child = os.fork() if i < 2 else 0
    if i < 2 and not child:
        deep(50)
        os._exit(0)
    if child:
        os.waitpid(child, 0)
for thread in threads:
    thread.join()
print(results)
