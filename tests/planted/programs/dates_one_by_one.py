# SPDX-License-Identifier: MIT
"""A log whose dates are parsed by strptime, row by row; the fixed one takes fromisoformat."""
import datetime

import planted


def strptime(text):
    return datetime.datetime.strptime(text, "%Y-%m-%d %H:%M:%S")


def sessions(parse):
    n, last = 0, None
    with open("log", encoding="ascii") as lines:
        for line in lines:
            at = parse(line.rstrip())
            n += last is None or (at - last).total_seconds() > 20
            last = at
    return n


def prepare():
    at = datetime.datetime(2026, 11, 28)
    with open("log", "w", encoding="ascii") as file:
        for i in range(250_000):
            at += datetime.timedelta(seconds=i * 7 % 29)
            file.write(f"{at}\n")


planted.main(lambda: sessions(strptime), lambda: sessions(datetime.datetime.fromisoformat), prepare)
