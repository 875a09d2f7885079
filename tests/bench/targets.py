# SPDX-License-Identifier: MIT
"""What we want to stay below, one row per promise. A benchmark reports a miss; it fails nothing."""
from dataclasses import dataclass
from typing import Callable


@dataclass
class Target:
    what: str
    workload: str                 # a workload's key, or the key of an analysis figure
    tracer: str
    measure: Callable             # Series -> Spread, scaled to `unit`
    unit: str
    limit: float
    digits: int = 2
    at_least: bool = False


def scaled(spread, factor):
    return type(spread)(spread.median * factor, spread.low * factor, spread.high * factor)


def ratio(figure):
    return lambda s: s.ratio(figure)


def added(figure, factor=1):
    return lambda s: scaled(s.added(figure), factor)


TARGETS = [
    Target("malloc/free pair, sampled heap (M1)", "M1", "sampled", added("thread_ns"), "ns added per pair", 4, 1),
    Target("Python, every object through malloc, sampled (P2m)", "P2m", "sampled", ratio("process_ns"), "x CPU", 1.03),
    Target("PyTorch training with 2 workers, Python not looked into (P1/0)", "P1/0", "sampled", ratio("process_ns"), "x CPU", 1.02),
    Target("the same, wall", "P1/0", "sampled", ratio("wall_ns"), "x wall", 1.02),
    Target("the same with phases and places in Python: defaults (P1)", "P1", "sampled", ratio("process_ns"), "x CPU", 1.03),
    Target("the same, wall", "P1", "sampled", ratio("wall_ns"), "x wall", 1.03),
    Target("unwinding for heap samples, a program that allocates all the time", "unwinding", "", None, "% of its CPU time", 0.5),
    Target("proftrace run on a training of 15 s, report included (P15)", "P15", "run", ratio("total_wall_s"), "x wall", 1.08),
    Target("the same, all CPU", "P15", "run", ratio("total_cpu_s"), "x CPU", 1.08),
    Target("malloc/free pair, full heap (M1)", "M1", "full", ratio("total_cpu_s"), "x all CPU", 5),
    Target("random replacement, full heap (M2/1)", "M2/1", "full", ratio("total_cpu_s"), "x all CPU", 2.1),
    Target("Python, every object through malloc, full heap (P2m)", "P2m", "full", ratio("total_cpu_s"), "x all CPU", 1.5),
    Target("Python, default allocator (P2)", "P2", "sampled", ratio("process_ns"), "x CPU", 1.03),
    Target("pread of 4 KiB (I1)", "I1", "sampled", added("thread_ns"), "ns added per call", 60, 0),
    Target("the same, ratio", "I1", "sampled", ratio("thread_ns"), "x CPU", 1.10),
    Target("write (I2)", "I2", "sampled", added("thread_ns"), "ns added per call", 60, 0),
    Target("the same, ratio", "I2", "sampled", ratio("thread_ns"), "x CPU", 1.10),
    Target("free mutex, one thread (L1)", "L1", "sampled", added("thread_ns"), "ns added per pair", 3, 1),
    Target("free mutex, two threads (L2)", "L2", "sampled", added("thread_ns"), "ns added per pair", 3, 1),
    Target("poll of a ready descriptor (N1)", "N1", "sampled", added("thread_ns"), "ns added per call", 60, 0),
    Target("the same, ratio", "N1", "sampled", ratio("thread_ns"), "x CPU", 1.10),
    Target("send and recv over the loopback (N2)", "N2", "sampled", added("thread_ns"), "ns added per two calls", 120, 0),
    Target("the same, ratio", "N2", "sampled", ratio("thread_ns"), "x CPU", 1.10),
    Target("free read-write lock (L3)", "L3", "sampled", added("thread_ns"), "ns added per pair", 3, 1),
    Target("semaphore posted and taken (L4)", "L4", "sampled", added("thread_ns"), "ns added per pair", 3, 1),
    Target("condition signalled, nobody waits (L5)", "L5", "sampled", added("thread_ns"), "ns added per call", 3, 1),
    Target("wait for a condition whose time is over (L6)", "L6", "sampled", ratio("thread_ns"), "x CPU", 1.10),
    Target("epoll_wait without waiting (N3)", "N3", "sampled", added("thread_ns"), "ns added per call", 60, 0),
    Target("select without waiting (N4)", "N4", "sampled", added("thread_ns"), "ns added per call", 60, 0),
    Target("socket, connect, accept, two closes (N5)", "N5", "sampled", ratio("thread_ns"), "x CPU", 1.10),
    Target("sleep until a time that is over (W1)", "W1", "sampled", ratio("thread_ns"), "x CPU", 1.10),
    Target("waitpid without waiting (W2)", "W2", "sampled", added("thread_ns"), "ns added per call", 60, 0),
    Target("5,000 small files from Python", "files", "sampled", ratio("wall_ns"), "x wall", 1.10),
    Target("start and end of a process", "start", "sampled", added("wall_ns", 1e-6), "ms added", 0.25),
    Target("the same, disk", "start", "sampled", lambda s: scaled(s.bytes_per_event(), 1 / 1024), "KiB per image", 8, 0),
    Target("a script of short commands (storm)", "storm", "sampled", ratio("process_ns"), "x CPU", 1.3),
    Target("the same, disk", "storm", "sampled", lambda s: scaled(s.bytes_per_event(), 1 / 1024), "KiB per image", 8, 0),
    Target("exit after a million events", "exit", "sampled", added("wall_ns", 1e-6), "ms added", 1),
    Target("memory added, one thread, sampled (M1)", "M1", "sampled", added("rss_mib"), "MiB", 9, 1),
    Target("memory added, one thread, full heap (M1)", "M1", "full", added("rss_mib"), "MiB", 9, 1),
    Target("memory added, 16 threads, full heap (M2/16)", "M2/16", "full", added("rss_mib"), "MiB", 24, 1),
    Target("bytes per heap event, full (M1)", "M1", "full", lambda s: s.bytes_per_event(), "bytes", 2),
    Target("bytes per heap event, random addresses (M2/1)", "M2/1", "full", lambda s: s.bytes_per_event(), "bytes", 5),
    Target("bytes per I/O event, loop (I1)", "I1", "sampled", lambda s: s.bytes_per_event(), "bytes", 5),
    Target("bytes per I/O event, loop (I2)", "I2", "sampled", lambda s: s.bytes_per_event(), "bytes", 5),
    Target("bytes per I/O event, mixed (I3)", "I3", "sampled", lambda s: s.bytes_per_event(), "bytes", 12),
    Target("decode and merge", "decode", "", None, "M events/s of CPU", 50, 1, at_least=True),
    Target("all analyses and report files, 10 M events", "mixed-10", "", None, "s", 2),
    Target("the same, CPU time shared by two cores", "mixed-10-cpu", "", None, "s", 2),
    Target("the same, memory", "mixed-10-rss", "", None, "MiB", 256, 0),
    Target("the same on 100 M events, memory", "mixed-100-rss", "", None, "MiB", 256, 0),
    Target("the same on 1,000 M events, memory", "mixed-1000-rss", "", None, "MiB", 256, 0),
    Target("Chrome export", "chrome", "", None, "M slices/s", 2, at_least=True),
    Target("Perfetto export", "perfetto", "", None, "M slices/s", 5, at_least=True),
    Target("launcher sampling", "launcher", "", None, "% of a core", 0.5),
    Target("launcher sampling, 200 processes", "launcher-200", "", None, "% of a core", 0.5),
    Target("CPU profile of python, 100 samples/s", "profile-python", "", None, "% of a core", 1),
    Target("CPU profile of torch, 100 samples/s", "profile-torch", "", None, "% of a core", 1),
    Target("CPU profile of gcc, 100 samples/s", "profile-gcc", "", None, "% of a core", 1),
]
