# SPDX-License-Identifier: MIT
"""Trace files that lack a part, as full rings, full disks and bad disks leave them."""
import glob
import os
import struct

SLOT = 20  # offset of the thread's place in struct pt_block


def lose_the_middle(run, share=0.5):
    """Of each thread's blocks in the only file of a run this share, in the middle: what a ring that keeps its start overwrites."""
    (path,) = glob.glob(os.path.join(run, "*.ptr"))
    lose(path, (1 - share) / 2, (1 + share) / 2)


def lose_the_beginning(run, share=0.5):
    """Of each thread's blocks in all files the first ones: what a ring overwrites."""
    for path in glob.glob(os.path.join(run, "*.ptr")):
        lose(path, 0, share)


def lose(path, begin, end):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    slots = {}
    for i in range(0, len(data), 64):
        if data[i:i + 4] == b"PBLK":
            slots.setdefault(struct.unpack_from("<I", data, i + SLOT)[0], []).append(i)
    assert max(map(len, slots.values())) > 4, "too few blocks"
    for at in slots.values():
        for i in at[int(len(at) * begin):int(len(at) * end)]:
            data[i:i + 4] = b"lost"
    with open(path, "wb") as file:
        file.write(data)
