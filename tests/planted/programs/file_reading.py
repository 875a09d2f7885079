# SPDX-License-Identifier: MIT
"""Reads a file that is in memory and works on some of each part of it, in turn, for three times as long as reading takes. The fixed one has
the next part read by another thread meanwhile. How much of it that is, --prepare measures: on one machine a digest of all takes twice as long
as reading it, on another one thirty times."""
import concurrent.futures
import hashlib
import os

import planted

PART, READS_S = 16 << 20, 0.5


def digest_of(part_before, digested):
    digest = hashlib.sha256()
    with open("samples", "rb", buffering=0) as file:
        for part in part_before(file):
            digest.update(memoryview(part)[:digested])
    return digest.hexdigest()


def in_turn(file):
    part = bytearray(PART)
    while file.readinto(part):  # planted here
        yield part


def ahead(file):
    now, following = bytearray(PART), bytearray(PART)
    with concurrent.futures.ThreadPoolExecutor(1) as reader:
        is_read = reader.submit(file.readinto, now)
        while is_read.result():
            is_read = reader.submit(file.readinto, following)
            yield now
            now, following = following, now


def read_all():
    for _ in in_turn(open("samples", "rb", buffering=0)):
        pass


def resize(parts):
    with open("samples", "wb") as samples:
        os.truncate(samples.fileno(), parts * PART)
    read_all()


def available_bytes():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:"))


def prepare():
    some, part = 16, bytes(PART)
    resize(some)
    read_s, digest_s = planted.seconds_of(read_all) / some, planted.seconds_of(hashlib.sha256, part)
    resize(max(some, min(int(READS_S / read_s), available_bytes() // 2 // PART)))  # it is to stay in memory
    planted.keep_amount(int(PART * min(1, 3 * read_s / digest_s)))


planted.main(lambda: digest_of(in_turn, planted.kept_amount()), lambda: digest_of(ahead, planted.kept_amount()), prepare)
