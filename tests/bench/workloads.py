# SPDX-License-Identifier: MIT
"""The work that is measured, one row each. `short` is the same work with fewer operations, for tracers that are very slow."""
import os
from dataclasses import dataclass, field
from typing import Callable, Dict, List

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"


@dataclass
class Places:
    """Where things lie: programs, data on disk, files in memory, traces."""
    programs: str
    data: str
    memory: str
    traces: str


@dataclass
class Workload:
    key: str
    title: str
    operation: str
    command: Callable[[Places, int], List[str]]
    size: int
    quick: int               # size in quick mode; 0 = left out
    tracers: List[str]
    short: int = 0
    events: int = 0          # events per operation in full mode; 0 = not counted
    env: Dict[str, str] = field(default_factory=dict)


def program(name, *after):
    return lambda p, n: [f"{p.programs}/{name}", *[a(p) if callable(a) else a for a in after], str(n)]


def python(script, *after, tail=()):
    return lambda p, n: [PYTHON, f"{HERE}/{script}", *[a(p) for a in after], str(n), *tail]


def hook(key, kind, title, operation, size):
    """A call that could wait and does not, see b_hooks.c."""
    return Workload(key, title, operation, program("b_hooks", lambda p: kind), size, max(size // 200, 10), ["bare", "sampled"])


# Five short commands, of which two are forked only and three are executed, too, a hundred times: 800 images of processes.
STORM = "for i in {1..100}; do /bin/true; (:); /bin/echo -n; x=$(:); /bin/true; done"

OURS = ["bare", "off", "sampled", "full", "wheel", "wheel-full"]
HEAP_PEERS = ["jemalloc-sampling", "tcmalloc-sampling", "lttng", "uftrace", "heaptrack"]

WORKLOADS = [
    Workload("M1", "malloc and free in pairs, one thread", "pair", program("b_pairs"), 2000000, 50000,
             [*OURS, *HEAP_PEERS], events=2),
    Workload("M2/1", "random replacement in a live set of 50,000 blocks, one thread", "replacement",
             lambda p, n: [f"{p.programs}/b_larson", "1", "4", str(n), "50000"], 150000, 5000, [*OURS, *HEAP_PEERS], events=2),
    Workload("M2/16", "the same with 16 threads of 5,000 blocks (memory per thread)", "replacement",
             lambda p, n: [f"{p.programs}/b_larson", "16", "2", str(n), "5000"], 50000, 1000, OURS, events=2),
    Workload("P1", "PyTorch training, two DataLoader workers, 2 epochs", "step", python("b_train.py", lambda p: f"{p.data}/p1"),
             2, 0, ["bare", "sampled", "full", "jemalloc-sampling", "lttng"]),
    Workload("P1/0", "the same with PROFTRACE_PYTHON=0: without phases and places in Python", "step", python("b_train.py", lambda p: f"{p.data}/p1"),
             2, 0, ["bare", "sampled"], env={"PROFTRACE_PYTHON": "0"}),
    Workload("P15", "PyTorch training of 15 s, from the command to the prompt", "step",
             python("b_train.py", lambda p: f"{p.data}/p1"), 14, 0, ["bare", "run", "memray"]),
    Workload("P2", "JSON churn in Python, default allocator", "round", python("b_json.py"), 20, 2,
             ["bare", "sampled", "full", "jemalloc-sampling", "lttng", "heaptrack"]),
    Workload("P2m", "JSON churn in Python, every object through malloc", "round", python("b_json.py"), 20, 2,
             [*OURS, "jemalloc-sampling", "tcmalloc-sampling", "lttng", "heaptrack"], env={"PYTHONMALLOC": "malloc"}),
    Workload("I1", "pread of 4 KiB, cached file", "call", program("b_pread", lambda p: f"{p.data}/i1"), 500000, 5000,
             [*OURS, "uftrace", "strace"], short=10000, events=1),
    Workload("I2", "write of 1 to 4096 bytes, tmpfs", "call", program("b_write", lambda p: f"{p.memory}/i2"), 500000, 5000,
             [*OURS, "uftrace", "strace"], short=10000, events=1),
    Workload("L1", "a free mutex locked and unlocked in a process of one thread", "pair", program("b_mutex", lambda p: "alone"),
             10000000, 50000, ["bare", "off", "sampled"]),
    Workload("L2", "the same in a process of two threads", "pair", program("b_mutex", lambda p: "beside"), 10000000, 50000,
             ["bare", "off", "sampled"]),
    Workload("N1", "poll of one descriptor that is ready", "call", program("b_poll"), 1000000, 5000, [*OURS, "strace"], short=10000,
             events=1),
    Workload("N2", "64 bytes sent and received over a TCP connection, one thread", "message", program("b_socket"), 200000, 2000,
             [*OURS, "strace"], short=10000, events=2),
    hook("L3", "rwlock", "a free read-write lock taken for reading and released", "pair", 5000000),
    hook("L4", "semaphore", "a semaphore posted and taken", "pair", 5000000),
    hook("L5", "signal", "pthread_cond_signal while nobody waits", "call", 20000000),
    hook("L6", "condition", "pthread_cond_timedwait until a time that is over", "call", 10000),
    hook("N3", "epoll", "epoll_wait that finds nothing, without a timeout", "call", 500000),
    hook("N4", "select", "select of one descriptor that finds nothing, without a timeout", "call", 500000),
    hook("N5", "connect", "a TCP connection over the loopback: socket, connect, accept, close of both ends", "connection", 8000),
    hook("W1", "sleep", "clock_nanosleep until a time that is over", "call", 10000),
    hook("W3", "step", "a millisecond of computing and a sleep of 300 us: the thread's clock is read behind each", "step", 2000),
    hook("W2", "waitpid", "waitpid without waiting, of a child that lives", "call", 500000),
    Workload("I3", "one of 1,000 files: stat, open, three reads, seek, close, a line to a log", "visit",
             program("b_mixed", lambda p: f"{p.memory}/i3"), 40000, 1000, ["bare", "sampled", "wheel"], events=8),
    Workload("files", "5,000 small files opened, read and closed from Python", "file",
             python("b_small_files.py", lambda p: f"{p.data}/small"), 5000, 500, ["bare", "sampled", "full", "strace"]),
    Workload("start", "/bin/true started and ended, one after another", "process",
             lambda p, n: [f"{p.programs}/b_start", str(n), "/bin/true"], 300, 10, ["bare", "off", "sampled", "full", "wheel", "lttng"],
             events=1),
    Workload("storm", "a script of 500 short commands: two in five are forked, three are executed, too", "script",
             lambda p, n: [f"{p.programs}/b_start", str(n), "/bin/bash", "-c", STORM], 9, 1, ["bare", "sampled"], events=800),
    Workload("python", "python3 -c pass started and ended, one after another", "process",
             lambda p, n: [f"{p.programs}/b_start", str(n), PYTHON, "-c", "pass"], 100, 4, ["bare", "sampled"]),
    Workload("python0", "the same with PROFTRACE_PYTHON=0: the difference is what looking into Python costs", "process",
             lambda p, n: [f"{p.programs}/b_start", str(n), PYTHON, "-c", "pass"], 100, 4, ["bare", "sampled"],
             env={"PROFTRACE_PYTHON": "0"}),
    Workload("phase", "a phase begun and ended from Python (untraced: two empty functions)", "pair", python("b_phases.py"),
             1000000, 5000, ["bare", "sampled"]),
    Workload("window", "training steps of 20 ms, beside and in windows of torch.profiler", "step", python("b_window.py"), 150, 10,
             ["bare", "sampled", "outside", "window"]),
    Workload("range", "`with proftrace.range` around nothing, in Python", "range", python("b_ranges.py", lambda p: "range"), 1000000, 5000,
             ["bare", "off", "sampled"], events=2),
    Workload("with", "an empty `with` in its place: the difference is a range's cost", "with", python("b_ranges.py", lambda p: "empty"), 1000000, 5000,
             ["bare"]),
    Workload("exit", "exit after a million events", "exit", program("b_exit"), 1000000, 10000, ["bare", "sampled", "full"]),
]
