#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A range of the Python package that begins and ends, or an empty `with` in its place: what is between them is a range's cost.
usage: b_ranges.py range|empty [PAIRS]"""
import os
import sys

from result import Bench

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../preload/python"))
import proftrace  # noqa: E402


class Empty:
    __slots__ = ()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def main():
    part = proftrace.range("part") if sys.argv[1] == "range" else Empty()
    pairs, bench = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000, Bench()
    for _ in range(pairs):
        with part:
            pass
    bench.print(pairs)


main()
