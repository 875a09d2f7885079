# SPDX-License-Identifier: MIT
"""Read the output of `strace -f -k`: every system call with the stack that made it, and whether it was a public call.

A call is public when the program made it through a function that libc exports: then exactly one frame of libc (the function
itself) stands between the kernel and the caller. More frames are libc at work on its own behalf (stdio, opendir, mkstemp ...), none is
the loader, a static program or a raw system call. Frames of our library stand between libc and the caller and are looked
through; system calls that our library makes itself are raw, without a frame of libc. `syscall(2)` is no function to hook.
"""
import collections
import re

CLASSES = {
    "open": ("open", "openat", "openat2", "creat"),
    "read": ("read", "pread64", "readv", "preadv", "preadv2"),
    "write": ("write", "pwrite64", "writev", "pwritev", "pwritev2"),
    "stat": ("stat", "lstat", "fstat", "newfstatat", "statx"),
}
CLASS_OF = {call: name for name, calls in CLASSES.items() for call in calls}
CALLS = ",".join(CLASS_OF)

LINE = re.compile(r"^(?P<tid>\d+) +(?:(?P<call>\w+)\(|<\.\.\. (?P<resumed>\w+) resumed>)(?P<rest>.*)$")
RESULT = re.compile(r"= (?P<value>-?\d+)(?: E\w+ \(.*\))?(?: \(.*\))?$|= \?.*$")
FRAME = re.compile(r"^ > (?P<object>[^\s(]+)\((?P<symbol>[^)+]*)")
LIBC = re.compile(r"/libc(\.so\.6|-2\.\d+\.so)$")

Call = collections.namedtuple("Call", "tid name result symbols caller public text")


def is_public(frames, library):
    """frames: [(object, symbol)], innermost first."""
    libc = 0
    while libc < len(frames) and LIBC.search(frames[libc][0]):
        libc += 1
    return libc == 1 and frames[0][1] != "syscall"


def read(path, library="libproftrace.so"):
    """Yield every finished call of the four classes."""
    begun, current, frames = {}, None, []

    def finish():
        if not current:
            return None
        tid, name, result, text = current
        outside = [f for f in frames if not LIBC.search(f[0]) and not f[0].endswith(library)]
        return Call(tid, name, result, [f[1] for f in frames[:4]], outside[0] if outside else ("", ""),
                    is_public(frames, library), text)

    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            frame = FRAME.match(line)
            if frame:
                frames.append((frame["object"], frame["symbol"]))
                continue
            match = LINE.match(line)
            if not match:
                continue
            call = finish()
            if call:
                yield call
            current, frames = None, []
            name, rest = match["call"] or match["resumed"], match["rest"]
            if rest.endswith("<unfinished ...>"):
                begun[match["tid"]] = rest
                continue
            text = begun.pop(match["tid"], "") + rest if match["resumed"] else rest
            result = RESULT.search(rest)
            if name in CLASS_OF and result and result["value"] is not None:
                current = int(match["tid"]), name, int(result["value"]), f"{name}({text[:100]}"
    call = finish()
    if call:
        yield call


def sums(calls):
    """{class: {calls, bytes}} of the public calls; bytes as the kernel returned them."""
    total = {name: {"calls": 0, "bytes": 0} for name in CLASSES}
    for call in calls:
        if call.public:
            kind = total[CLASS_OF[call.name]]
            kind["calls"] += 1
            if CLASS_OF[call.name] in ("read", "write") and call.result > 0:
                kind["bytes"] += call.result
    return total
