# SPDX-License-Identifier: MIT
"""Fetches 40 objects from a server that answers after 50 ms, one after another or 20 at once."""
import multiprocessing.pool
import os
import socket

import planted

PORT = int(os.environ.get("PLANTED_PORT", "0"))


def fetch(number):
    with socket.create_connection(("127.0.0.1", PORT)) as connection:
        connection.sendall(b"GET %d\n" % number)
        return connection.recv(65536)  # planted here


def bad():
    for number in range(40):
        fetch(number)


def fixed():
    with multiprocessing.pool.ThreadPool(20) as pool:
        pool.map(fetch, range(40), chunksize=1)


planted.main(bad, fixed)
