# SPDX-License-Identifier: MIT
"""Nothing to complain about: three processes made beforehand accept connections and answer, and tell their parent of each answer."""
import os
import select
import socket
import time

import planted

PORT = int(os.environ.get("PLANTED_PORT", "0"))
UNTIL = time.monotonic() + (3 if PORT else 0.1)


def serve(listener, tell):
    while time.monotonic() < UNTIL and select.select([listener], [], [], max(UNTIL - time.monotonic(), 0))[0]:
        try:
            connection = listener.accept()[0]
        except BlockingIOError:
            continue  # another one was faster
        with connection:
            connection.setblocking(True)
            while connection.recv(64):
                planted.compute(0.002)
                connection.sendall(b"answer")
                os.write(tell, b"answered")
    os._exit(0)


def run():
    listener = socket.create_server(("127.0.0.1", PORT))
    listener.setblocking(False)
    heard, tell = os.pipe()
    for _ in range(3):
        if os.fork() == 0:
            serve(listener, tell)
    os.close(tell)
    while os.read(heard, 64):
        pass
    for _ in range(3):
        os.wait()


planted.main(run, run)
