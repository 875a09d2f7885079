# SPDX-License-Identifier: MIT
"""One run of one configuration, and the statistics over rounds."""
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass

from tracers import pids_of, run_quietly

RESULT = re.compile(r"RESULT ops=(\d+) wall_ns=(\d+) thread_ns=(\d+) process_ns=(\d+) rss_kib=(\d+)")


@dataclass
class Sample:
    ops: int
    wall_ns: float      # per operation, of the measured loop
    thread_ns: float
    process_ns: float
    total_cpu_s: float  # whole process tree, start and end included, and the tracer's daemon
    total_wall_s: float  # the same, until the prompt is back
    rss_mib: float      # peak of the measured process
    trace_bytes: int
    status: int


class PeerFailedError(Exception):
    """The program did not come to its end under another tracer. It says how."""


@dataclass
class Failed:
    """Stands for the series of such a tracer."""
    workload: object
    tracer: object
    how: str


def ending(status):
    """An exit status as people say it; some tracers hand a signal on as 128 and its number, as shells do."""
    number = -status if status < 0 else status - 128
    names = {one.value: one.name for one in signal.Signals}
    if status == 0:
        return "ended without a result"
    return f"died of signal {number} ({names[number]})" if number in names else f"ended with status {status}"


def daemon_cpu_s(name):
    ticks = 0
    for pid in pids_of(name) if name else []:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                fields = f.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        except OSError:
            pass
    return ticks / os.sysconf("SC_CLK_TCK")


def environment(workload, tracer):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PROFTRACE_", "LD_PRELOAD"))}
    env.update(workload.env)
    env.update(tracer.env)
    if tracer.preload:
        env["LD_PRELOAD"] = tracer.preload
    return env


def folder_bytes(folder):
    return sum(os.path.getsize(os.path.join(base, name)) for base, _, names in os.walk(folder) for name in names
               if not os.path.islink(os.path.join(base, name)))


def run_once(workload, tracer, size, places, keep_trace=False):
    shutil.rmtree(places.traces, ignore_errors=True)
    os.makedirs(places.traces)
    for command in tracer.before:
        run_quietly(command)
    errors, daemon = f"{places.data}/stderr", daemon_cpu_s(tracer.daemon)
    with open(errors, "wb") as stderr:
        began = time.monotonic()
        process = subprocess.Popen([*tracer.prefix, *workload.command(places, size)[tracer.takes_script:]], env=environment(workload, tracer),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.monotonic() - began
    daemon = daemon_cpu_s(tracer.daemon) - daemon
    for command in tracer.after:
        run_quietly(command)
    with open(errors, encoding="utf-8", errors="replace") as f:
        text = f.read()
    found = RESULT.search(text)
    if not found or process.returncode:
        if not tracer.is_ours:
            raise PeerFailedError(ending(process.returncode))
        raise RuntimeError(f"{workload.key} under {tracer.key} {ending(process.returncode)}: {text[-800:]}")
    ops, wall, thread, cpu, rss_kib = map(int, found.groups())
    trace_bytes = folder_bytes(places.traces)
    if not keep_trace:
        shutil.rmtree(places.traces, ignore_errors=True)
    return Sample(ops, wall / ops, thread / ops, cpu / ops, usage.ru_utime + usage.ru_stime + daemon, wall_s,
                  rss_kib / 1024, trace_bytes, process.returncode)


@dataclass
class Spread:
    median: float
    low: float
    high: float

    @staticmethod
    def of(values):
        values = list(values)
        return Spread(statistics.median(values), min(values), max(values))

    def text(self, digits):
        return f"{self.median:,.{digits}f} [{self.low:,.{digits}f}..{self.high:,.{digits}f}]"


class Series:
    """All rounds of one configuration beside those of its base, round by round."""

    def __init__(self, workload, tracer, samples, base):
        self.workload, self.tracer, self.samples, self.base = workload, tracer, samples, base

    def ratio(self, figure):
        return Spread.of(getattr(a, figure) / max(getattr(b, figure), 1e-9) for a, b in zip(self.samples, self.base))

    def added(self, figure):
        return Spread.of(getattr(a, figure) - getattr(b, figure) for a, b in zip(self.samples, self.base))

    def value(self, figure):
        return Spread.of(getattr(a, figure) for a in self.samples)

    def bytes_per_event(self):
        events = self.workload.events
        return Spread.of(s.trace_bytes / (events * s.ops) for s in self.samples) if events else None


PEER_ROUNDS = 3  # of other tracers, which take most of the time: with the warm-up round the first four


def interleaved(workload, tracers, rounds, places, quick, progress):
    """A B C A B C ...: one warm-up round, then `rounds` that count, the peers in the first ones. Returns {tracer key: Series}, or
    Failed of a peer under which the program did not come to its end; it is not asked again."""
    chosen = [tracers[key] for key in workload.tracers if key in tracers]
    size = workload.quick if quick else workload.size
    plan = [(t, min(size, workload.short) if t.short and workload.short else size) for t in chosen]
    samples, failed = {}, {}
    for number in range(rounds + 1):
        began = time.time()
        now = [(t, s) for t, s in plan if t.is_ours or (number <= PEER_ROUNDS and t.key not in failed)]
        runs = [(tracers["bare"], s) for s in sorted({s for _, s in now})] + [(t, s) for t, s in now if t.key != "bare"]
        for tracer, of_size in runs:
            try:
                sample = run_once(workload, tracer, of_size, places)
            except PeerFailedError as error:
                failed[tracer.key] = Failed(workload, tracer, f"{error}, round {number}")
                progress(f"{workload.key}: under {tracer.key} the program {failed[tracer.key].how}; left out")
                continue
            if number:
                samples.setdefault((tracer.key, of_size), []).append(sample)
        progress(f"{workload.key}: round {number}/{rounds} in {time.time() - began:.1f} s")
    return {t.key: failed.get(t.key) or Series(workload, t, samples[t.key, s], samples["bare", s]) for t, s in plan}


def raise_priority():
    """Benchmarks run before other work on the machine, where that is allowed."""
    try:
        os.nice(-15)
    except OSError:
        pass
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
