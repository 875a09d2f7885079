# SPDX-License-Identifier: MIT
"""A log that is synced after each record, for two seconds on this disk; or once at the end."""
import os
import time

import planted


def run(records, each):
    with open("log", "wb", buffering=0) as log:
        for _ in range(records):
            log.write(b"x" * 4096)
            if each:
                os.fsync(log.fileno())  # planted here
        os.fsync(log.fileno())


def prepare():
    begin = time.monotonic()
    run(100, True)
    took = (time.monotonic() - begin) / 100
    planted.keep_amount(min(int(2.5 / took), 50_000))


planted.main(lambda: run(planted.kept_amount(), True), lambda: run(planted.kept_amount(), False), prepare)
