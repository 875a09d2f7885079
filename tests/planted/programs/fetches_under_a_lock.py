# SPDX-License-Identifier: MIT
"""Four threads fetch 40 objects from a server that answers after 50 ms, with the lock of their cache held meanwhile; the fixed ones hold it for
the cache only."""
import os
import queue
import socket
import threading

import planted

PORT = int(os.environ.get("PLANTED_PORT", "0"))
lock = threading.Lock()
cache = {}


def download(number):
    with socket.create_connection(("127.0.0.1", PORT)) as connection:
        connection.sendall(b"GET %d\n" % number)
        return connection.recv(65536)


def get_under_the_lock(number):
    with lock:  # planted here
        if number not in cache:
            cache[number] = download(number)  # planted here
        return cache[number]


def get(number):
    answer = download(number)
    with lock:
        return cache.setdefault(number, answer)


def run(fetch):
    numbers, fetched = queue.Queue(), queue.Queue()

    def work():
        while (number := numbers.get()) is not None:
            fetched.put(fetch(number))

    for number in [*range(40), *[None] * 4]:
        numbers.put(number)
    for _ in range(4):
        threading.Thread(target=work, daemon=True).start()
    for _ in range(40):
        fetched.get()


planted.main(lambda: run(get_under_the_lock), lambda: run(get))
