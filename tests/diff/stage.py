# SPDX-License-Identifier: MIT
"""stage.py NAME [REGRESSION] - a stage of a small pipeline, which works for some tenths of a second, and in one of many ways for longer."""
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import zlib

NAME, REGRESSION = sys.argv[1], os.environ.get("REGRESSION", "")
WITH = REGRESSION.partition(":")[2] if REGRESSION.partition(":")[0] == NAME else ""
LOCK, CACHE = threading.Lock(), {}


def again(regression, seconds, least=1):
    """Once; with this regression `least` times, and until it has taken so much time of the CPU: a fixed number of rounds costs a quick machine
    less than what `diff` takes for noise. All calls together, of which there are 4 or 12, take half a second."""
    rounds, end = 0, time.thread_time() + seconds
    while rounds == 0 or WITH == regression and (rounds < least or time.thread_time() < end):
        yield
        rounds += 1


def load(path):
    for _ in again("reads", 0.05, 30):
        with open(path, "rb", buffering=0) as file:
            data = file.read()
    return data


def look(path):
    for _ in range(100000 if WITH == "stats" else 10):
        os.stat(path)


def checksum(data):
    total, some = 0, data[:100000]
    for _ in again("work", 0.15):
        for byte in some:
            total += byte
    return total


def decode(number, data):
    if number not in CACHE or WITH == "cache":
        for _ in again("cache", 0.05):
            CACHE[number] = sum(byte * byte for byte in data[:800000])
    return CACHE[number]


def normalise(data):
    for _ in again("copies", 0.15):
        data = bytes(bytearray(data))
    return data


def pack(data):
    for _ in again("pack", 0.15):
        packed = zlib.compress(data[:4000000], 6)
    return packed


def boxes(count):
    return [[i, str(i)] for i in range(count)]


def save(path, data):
    with open(path, "wb", buffering=0) as file:
        step = 2 if WITH == "small_writes" else len(data)
        for at in range(0, len(data), step):
            file.write(data[at:at + step])
            if WITH == "fsync" and at == 0:
                for _ in range(4000):
                    os.fsync(file.fileno())
                    file.write(b".")


def update():
    with LOCK:
        pass


def hold():
    with LOCK:
        time.sleep(0.9)


def pause():
    time.sleep(0.9 if WITH == "sleep" else 0.01)


def helper():
    for _ in range(400 if WITH == "children" else 1):
        subprocess.call(["/bin/true"])


def label(path):
    with open(path, "rb", buffering=0) as file:
        file.read(100)
        if WITH == "one_read":
            file.read(100)
    if WITH == "one_open":
        os.close(os.open(path, os.O_RDONLY))


def augment(data):
    for _ in again("more_work", 0.3):
        sum(byte ^ 1 for byte in data[:2500000])


def crop(number):
    for _ in again("slow_worker", 0.5 if number == 1 else 0):
        sum(i * i for i in range(100000))


def main():
    folder = os.environ["DATA"]
    for epoch in range(3):
        for number in range(4):
            path = f"{folder}/{number}.bin"
            data = load(path)
            decode(number, data)
            if epoch == 0:
                look(path)
                checksum(data)
                normalise(data)
                pack(data)
    for _ in range(1000):
        label(path)
    augment(data)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(crop, range(2), 1)
    boxes(1200000 if WITH == "boxes" else 20000)
    save(f"{folder}/{NAME}.out", data[:1600000])
    if WITH == "lock":
        threading.Thread(target=hold).start()
        time.sleep(0.05)
    update()
    pause()
    helper()


main()
