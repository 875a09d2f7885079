#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Play one fault each to proftrace and to other tracers: what they recorded of a known number of events, and what the program noticed.

    tests/fault/peers/run.py BUILD [--write] [TRACER...]      --write: into docs/reliability.md

A tracer that is not installed is left out by name. The program is known.c, which says what the faults are. Takes a minute or two."""
import argparse
import datetime
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.dirname(HERE)]
from run_trace import Trace  # noqa: E402

PAGE = os.path.join(ROOT, "docs", "reliability.md")
BLOCK = re.compile(r"(?<=<!-- peers: written by tests/fault/peers/run.py -->\n).*?(?=<!-- end of peers -->)", re.DOTALL)
N, LONGEST_S = 100000, 30
# Fault of known.c: what it is, and how many events there are.
FAULTS = {
    "sigkill": ("SIGKILL", N), "_exit": ("_exit(7)", N), "quick_exit": ("quick_exit(8)", N), "abort": ("abort()", N),
    "segv": ("SIGSEGV", N), "exec": ("exec of itself", 2 * N), "fork": ("fork; the child has events, too", 2 * N),
    "fork_threads": ("100 forks among 8 threads that have events", N + 100 * 100), "vfork": ("50 vforks", N),
    "close": ("descriptors 3 to 1023 closed", N), "close_range": ("the same by close_range", N),
    "dup2": ("dup2 of a user's file over 3 to 63", N), "nofile": ("16 descriptors; the program opens all that are left", N),
    "threads": ("200 threads", N), "main_ends": ("the main thread ends first", N), "unshare": ("unshare(CLONE_NEWUSER)", N),
    "errno": ("errno over malloc and free", N), "inside": ("threads and next descriptor, from inside", N),
}


def run(command, folder, **variables):
    """(exit status as a shell has it, stdout); the status is None where it had to be ended."""
    environment = {"PATH": os.environ["PATH"], "HOME": folder, **variables}
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, start_new_session=True) as child:
        try:
            out = child.communicate(timeout=LONGEST_S)[0]
            status = child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, status = child.communicate()[0], None
    return (128 - status if status is not None and status < 0 else status), out.decode(errors="replace").splitlines()


def counted(command, folder):
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return int(done.stdout.strip() or 0)


class Proftrace:
    name, needs, flags = "proftrace", (), ()

    def __init__(self, build):
        self.build = os.path.abspath(build)

    def version(self):
        return subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%h"], capture_output=True, text=True, check=False).stdout.strip()

    def play(self, program, folder):
        traces = os.path.join(folder, "traces")
        seen = run(program, folder, LD_PRELOAD=os.path.join(self.build, "libproftrace.so"), PROFTRACE_DIR=traces, PROFTRACE_HEAP="full")
        return *seen, Trace(os.path.join(self.build, "proftrace"), os.path.join(traces, "latest")).value("size:4242")


class Heaptrack:
    name, needs, flags = "heaptrack", ("heaptrack", "zstd"), ()

    def version(self):
        return subprocess.run(["heaptrack", "--version"], capture_output=True, text=True, check=False).stdout.split()[-1]

    def play(self, program, folder):
        seen = run(["heaptrack", "-r", "-o", os.path.join(folder, "trace"), *program], folder)
        return *seen, counted("zstd -dcfq trace.* 2>&- | awk '/^[+] 1092 /{k++}END{print k+0}'", folder)


class Uftrace:
    name, needs, flags = "uftrace", ("uftrace",), ("-pg",)

    def version(self):
        return subprocess.run(["uftrace", "--version"], capture_output=True, text=True, check=False).stdout.split()[1].lstrip("v")

    def play(self, program, folder):
        seen = run(["uftrace", "record", "--no-libcall", "-d", "trace", *program], folder)
        return *seen, counted("uftrace dump -d trace 2>&- | grep -c 'entry.*event('", folder)


def told(seen, plain, expected):
    """What a cell of the table says."""
    status, out, n = seen
    said = [f"{n:,}" if n == expected else f"**{n:,} of {expected:,}**"]
    if status is None:
        return f"**hangs** (ended after {LONGEST_S} s, and what helps the tracer with it)"
    if status != plain[0]:
        said.append(f"**status {status}, not {plain[0]}**")
    for line in plain[1]:
        if line not in out:
            instead = [" ".join(each.split()) for each in out if each.split()[:1] == line.split()[:1]]
            said.append(f"**{instead[0] if instead else 'its output is not there'}** (alone: {' '.join(line.split())})")
    return "; ".join(said)


def row(fault, tracers, scratch):
    what, expected = FAULTS[fault]

    def folder(name):
        path = os.path.join(scratch, f"{fault}-{name}")
        os.mkdir(path)
        return path

    plain = run([os.path.join(scratch, "known"), fault, str(N)], folder("plain"))
    cells = []
    for tracer in tracers:
        program = [os.path.join(scratch, "known" + "".join(tracer.flags)), fault, str(N)]
        cells.append(told(tracer.play(program, folder(tracer.name)), plain, expected))
        print(f"{fault}: {tracer.name}: {cells[-1]}", file=sys.stderr)
    return f"| {what} | {' | '.join(cells)} |"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build")
    arguments.add_argument("tracers", nargs="*")
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    tracers, absent = [], []
    for tracer in (Proftrace(given.build), Heaptrack(), Uftrace()):
        if not given.tracers or tracer.name in given.tracers:
            (tracers if all(shutil.which(need) for need in tracer.needs) else absent).append(tracer)
    with tempfile.TemporaryDirectory() as scratch:
        for flags in {tracer.flags for tracer in tracers} | {()}:
            subprocess.run(["cc", "-O1", "-fno-builtin", "-D_GNU_SOURCE", "-w", *flags, "-pthread", "-o", os.path.join(scratch, "known" + "".join(flags)),
                            os.path.join(HERE, "known.c")], check=True)
        lines = [f"Of {datetime.date.today()}, Linux {platform.release().split('-', maxsplit=1)[0]}, {' '.join(platform.libc_ver())}.", ""]
        lines += ["".join(f"Not installed: {tracer.name}. " for tracer in absent), ""] if absent else []
        lines += ["| fault | " + " | ".join(f"{tracer.name} {tracer.version()}" for tracer in tracers) + " |", "|---" * (len(tracers) + 1) + "|"]
        lines += [row(fault, tracers, scratch) for fault in FAULTS]
    table = "\n".join(lines) + "\n"
    print(table)
    if given.write:
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(BLOCK.sub(lambda _: table, page))


if __name__ == "__main__":
    main()
