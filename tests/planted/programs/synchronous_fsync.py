# SPDX-License-Identifier: MIT
"""A log that is synced after each record, or once at the end."""
import os

import planted


def run(each):
    with open("log", "wb", buffering=0) as log:
        for _ in range(600):
            log.write(b"x" * 4096)
            if each:
                os.fsync(log.fileno())
        os.fsync(log.fileno())


planted.main(lambda: run(True), lambda: run(False))
