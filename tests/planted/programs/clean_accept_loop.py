# SPDX-License-Identifier: MIT
"""Nothing to complain about: waits for clients, and forks a child for each connection, which answers on it."""
import os
import signal
import socket
import time

import planted

PORT = int(os.environ.get("PLANTED_PORT", "0"))
UNTIL = time.monotonic() + (3 if PORT else 0.1)


def serve(connection):
    while connection.recv(64):
        planted.compute(0.001)
        connection.sendall(b"answer")
    os._exit(0)


def run():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.create_server(("127.0.0.1", PORT)) as listener:
        listener.settimeout(0.5)
        while time.monotonic() < UNTIL:
            try:
                connection = listener.accept()[0]
            except TimeoutError:
                continue
            connection.settimeout(None)
            if os.fork() == 0:
                serve(connection)
            connection.close()


planted.main(run, run)
