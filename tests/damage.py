# SPDX-License-Identifier: MIT
"""Trace files that lack a part, as full rings, full disks and bad disks leave them."""
import glob
import os
import struct

SLOT = 20  # offset of the thread's place in struct pt_block


def lose_the_middle(run, share=0.5):
    """Of each thread's blocks in the only file of a run this share, in the middle: what a ring that keeps its start overwrites."""
    (path,) = glob.glob(os.path.join(run, "*.ptr"))
    with open(path, "rb") as file:
        data = bytearray(file.read())
    slots = {}
    for i in range(0, len(data), 64):
        if data[i:i + 4] == b"PBLK":
            slots.setdefault(struct.unpack_from("<I", data, i + SLOT)[0], []).append(i)
    assert max(map(len, slots.values())) > 4, "too few blocks"
    for at in slots.values():
        for i in at[int(len(at) * (1 - share) / 2):int(len(at) * (1 + share) / 2)]:
            data[i:i + 4] = b"lost"
    with open(path, "wb") as file:
        file.write(data)
