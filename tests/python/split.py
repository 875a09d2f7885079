# SPDX-License-Identifier: MIT
"""A program that knows where its CPU time goes: by function and line, with recursion, generators and threads. Prints, as JSON, what
its own clocks say."""
import collections
import json
import sys
import threading
import time

SLICE_S = 0.037  # no multiple of the sampler's period
own_s = collections.Counter()
clock = time.thread_time


def half():
    end = clock() + 5 * SLICE_S
    while clock() < end:  # line of half
        pass


def third():
    end = clock() + 3 * SLICE_S
    while clock() < end:  # line of third
        pass


def fifth():
    first = clock() + SLICE_S
    second = first + SLICE_S
    while clock() < first:  # first line of fifth
        pass
    while clock() < second:  # second line of fifth
        pass


def measured(function):
    begin = clock()
    function()
    own_s[function.__name__] += clock() - begin


def sink(depth):
    if depth:
        sink(depth - 1)
        return
    end = clock() + 2 * SLICE_S
    while clock() < end:
        pass


def items(n):
    for i in range(n):
        end = clock() + SLICE_S
        while clock() < end:
            pass
        yield i


class Reader:
    def work(self):
        end = clock() + 4 * SLICE_S
        while clock() < end:
            pass


def work_of_reader():
    reader = Reader()
    for _ in range(3):
        reader.work()


def rounds(seconds):
    end = clock() + seconds
    while clock() < end:
        for function in (half, third, fifth):
            measured(function)


def main():
    what, seconds = sys.argv[1], float(sys.argv[2])
    if what == "split":
        rounds(seconds)
    elif what == "shapes":
        sink(30)
        for _ in items(6):
            pass
        thread = threading.Thread(target=work_of_reader)
        thread.start()
        thread.join()
    print(json.dumps(own_s))


main()
