# SPDX-License-Identifier: MIT
"""A CPU profile as the launcher would have written it, from a list of stacks. Modules are files that are not there: a frame is
called after its file, in brackets."""
import os
import struct

PERIOD_NS = 10_000_000
SAMPLED = 1
TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def frames_of(stack):
    """'[kernel]' and '[cut]' are what the format has numbers for; all else is a file."""
    return ["/opt/lib/" + frame if not frame.startswith("[") else frame for frame in stack]


def write(folder, stage, stacks, threads=(("main", 1),), note=None):
    """stacks: (thread's index, outermost ... innermost, samples). threads: (comm, pid)."""
    modules, nodes, counts, samples_of = {"[kernel]": 1, "[cut]": 2}, {}, [], [0] * len(threads)
    for thread, stack, samples in stacks:
        at = 0
        for frame in frames_of(stack):
            module = modules.setdefault(frame, len(modules) + 1)
            at = nodes.setdefault((at, module), len(nodes) + 1)
        counts.append(struct.pack("<IIQ", thread + 1, at, samples))
        samples_of[thread] += samples
    chunks = [(1, struct.pack("<II20s", number, 0, b"") + path.encode("utf-8", "surrogateescape"))
              for path, number in modules.items() if number > 2]
    chunks.append((2, b"".join(struct.pack("<IIIIQ16s", i + 1, pid, pid, 0, 0, comm.encode()[:15])
                               for i, (comm, pid) in enumerate(threads))))
    chunks.append((3, b"".join(struct.pack("<IIQ", parent, module, 0) for parent, module in nodes)))
    chunks.append((5, b"".join(counts)))
    chunks.append((6, b"".join(struct.pack("<II10Q", i + 1, 0, n * PERIOD_NS, 0, 0, 0, 0, 0, n * PERIOD_NS, 0, 0, n)
                               for i, n in enumerate(samples_of))))
    chunks.append((7, struct.pack("<7Q", sum(samples_of) * PERIOD_NS, sum(samples_of), 0, 0, 0, 0, 0)))
    if note:
        chunks.append((8, note.encode("utf-8", "surrogateescape")))
    header = struct.pack("<8sIIQQQIIII", b"PTCPU\r\n\x1a", 1, 56, 0, 0, PERIOD_NS, SAMPLED if stacks else 0, threads[0][1], 0, 8)
    with open(os.path.join(folder, f"cpu-{stage}.pcp"), "wb") as file:
        file.write(header)
        for number, (kind, body) in enumerate(chunk for chunk in chunks if chunk[1]):
            file.write(struct.pack("<IIII", kind, len(body), crc32c(body), number) + body)
