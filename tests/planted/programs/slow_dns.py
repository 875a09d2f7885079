# SPDX-License-Identifier: MIT
"""Resolves a name again and again at a server that answers after 100 ms; the fixed one remembers the answer."""
import functools
import socket

import planted


def resolve(name):
    return socket.getaddrinfo(name, 80, socket.AF_INET, socket.SOCK_STREAM)  # planted here


def run(ask):
    for i in range(20):
        ask(f"host-{i % 2}.planted.test")


planted.main(lambda: run(resolve), lambda: run(functools.lru_cache(resolve)))
