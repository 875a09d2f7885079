# SPDX-License-Identifier: MIT
"""Read the output of `strace -f -k`: every system call with the stack that made it, and whether it was a public call.

A call is public when the program made it through a function that libc exports: then exactly one frame of libc (the function
itself) stands between the kernel and the caller. More frames are libc at work on its own behalf (stdio, opendir, mkstemp ...), none is
the loader, a static program or a raw system call. Frames of our library stand between libc and the caller and are looked
through; system calls that our library makes itself are raw, without a frame of libc. What a program asks of syscall(2) is public where it
is about files: docs/decisions/0020-files-by-number.md.
Some functions call others of their kind (sleep, nanosleep, clock_nanosleep): those are public when the outermost is of that kind.

A call that a signal interrupts has no result of its own. What follows tells how it ended: rt_sigreturn with EINTR means that the
program got EINTR, restart_syscall brings the result, and the same call once more is one that was restarted.
"""
import collections
import re

CLASSES = {
    "open": ("open", "openat", "openat2", "creat"),
    "read": ("read", "pread64", "readv", "preadv", "preadv2"),
    "write": ("write", "pwrite64", "writev", "pwritev", "pwritev2"),
    "stat": ("stat", "lstat", "fstat", "newfstatat", "statx"),
    "poll": ("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"),
    "sleep": ("nanosleep", "clock_nanosleep"),
    "signal": ("pause", "rt_sigsuspend", "rt_sigtimedwait"),
    "child": ("wait4", "waitid"),
    "socket": ("socket", "socketpair", "pipe", "pipe2"),
    "connect": ("connect",),
    "accept": ("accept", "accept4"),
    "setup": ("bind", "listen", "shutdown"),
    "receive": ("recvfrom", "recvmsg", "recvmmsg"),
    "send": ("sendto", "sendmsg", "sendmmsg"),
}
CLASS_OF = {call: name for name, calls in CLASSES.items() for call in calls}
BY_NUMBER = ("open", "read", "write", "stat")  # classes that are calls when they come through syscall(2), too
MOVES_BYTES = ("read", "write", "receive", "send")
CALLS = ",".join([*CLASS_OF, "rt_sigreturn", "restart_syscall"])
KIN = {"sleep", "usleep", "nanosleep", "clock_nanosleep", "thrd_sleep", "wait", "wait3", "waitpid", "sigpause", "sigwait", "sigwaitinfo",
       "recv", "send", "epoll_wait", "epoll_pwait", "accept", "pipe", "shm_open"}

LINE = re.compile(r"^(?P<tid>\d+) +(?:(?P<call>\w+)\(|<\.\.\. (?P<resumed>\w+) resumed>)(?P<rest>.*)$")
RESULT = re.compile(r"= (?P<value>-?\d+)(?: E\w+ \(.*\))?(?: \(.*\))?$|= \?.*$")
FRAME = re.compile(r"^ > (?P<object>[^\s(]+)\((?P<symbol>[^)+]*)")
ALLOCATOR = re.compile(r"/lib(jemalloc|tcmalloc|mimalloc)[^/]*$")
LIBC = re.compile(r"/libc(\.so\.6|-2\.\d+\.so)$")

Call = collections.namedtuple("Call", "tid name result symbols caller public text")


def is_public(name, frames, library):
    """Of the system call `name`; frames: [(object, symbol)], innermost first."""
    libc = 0
    while libc < len(frames) and LIBC.search(frames[libc][0]):
        libc += 1
    if not libc or frames[0][1] == "syscall" and CLASS_OF.get(name) not in BY_NUMBER:
        return False
    return libc == 1 or frames[libc - 1][1].lstrip("_") in KIN


def last_traces(path):
    """{tid: number of the line on which its last trace began}: in the file of small processes, else in one of its own. An exec
    begins another one."""
    own, small = {}, {}
    with open(path, encoding="utf-8", errors="replace") as log:
        for number, line in enumerate(log):
            if ".ptr\"" in line and "O_CREAT" in line:
                own[line.split(None, 1)[0]] = number
            elif ".pts\"" in line and "O_APPEND" in line:
                small[line.split(None, 1)[0]] = number
    return {**own, **small}


def bytes_of(name, result, text):
    """What was moved: the calls for many messages return their number, and what is only looked at comes again."""
    if name.startswith("recv") and "MSG_PEEK" in text:
        return 0
    return sum(map(int, re.findall(r"msg_len=(\d+)", text))) if name.endswith("mmsg") else max(result, 0)


def read(path, library="libproftrace.so"):
    """Yield every finished call of the classes."""
    begun, interrupted, current, frames = {}, {}, None, []
    traced, began = last_traces(path), 0

    def is_early(tid, outside):
        """What an allocator that comes before us asks for when the loader first needs memory: our constructor has not run."""
        return bool(outside and ALLOCATOR.search(outside[0][0]) and began < traced.get(str(tid), 0))

    def finish():
        if not current:
            return None
        tid, name, result, text = current
        if name == "rt_sigreturn":
            call = interrupted.pop(tid, None)
            return call._replace(result=result) if call and result == -4 else None
        if name == "restart_syscall":
            call = interrupted.pop(tid, None)
            return call._replace(result=result) if call else None
        outside = [f for f in frames if not LIBC.search(f[0]) and not f[0].endswith(library)]
        call = Call(tid, name, result, [f[1] for f in frames[:4]], outside[0] if outside else ("", ""),
                    is_public(name, frames, library) and not is_early(tid, outside), text)
        interrupted.pop(tid, None)
        if result is None:
            interrupted[tid] = call
            return None
        return call

    with open(path, encoding="utf-8", errors="replace") as log:
        for number, line in enumerate(log):
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
            if result and (name in CLASS_OF or name in ("rt_sigreturn", "restart_syscall")):
                value = -4 if "= -1 EINTR" in rest else int(result["value"]) if result["value"] is not None else None
                current, began = (int(match["tid"]), name, value, f"{name}({text}"), number
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
            if CLASS_OF[call.name] in MOVES_BYTES:
                kind["bytes"] += bytes_of(call.name, call.result, call.text)
    return total
