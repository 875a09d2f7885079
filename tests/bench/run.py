#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measure what tracing costs, ours and the installed peers', interleaved in one run; see docs/performance.md.

    run.py --build DIR                    all workloads, 7 rounds, table to stdout
    run.py --build DIR --only M1,I1       some of them
    run.py --build DIR --write FILE       put the table between the markers of FILE
    run.py --build DIR --quick            tiny sizes, 2 rounds: proves that it works, measures nothing

No figure here fails anything: a slow machine is not a bug.
"""
import argparse
import datetime
import os
import platform
import re
import shutil
import signal
import sys
import tempfile

import analysis
import launcher
import measure
import table
import unwinding
from tracers import SessionDaemon, tracers
from workloads import WORKLOADS, Places

BEGIN, END = "<!-- measured -->", "<!-- end measured -->"


def circumstances(rounds, load_before, present):
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    now = datetime.datetime.now(datetime.timezone.utc)
    return (f"Measured {now:%Y-%m-%d} by `scripts/bench`: {rounds} rounds ({min(rounds, measure.PEER_ROUNDS)} of "
            f"other tracers) after one that is thrown away, on {os.cpu_count()} cores of "
            f"{model.group(1) if model else 'an unknown CPU'}, Linux {platform.release()}, glibc {platform.libc_ver()[1]}; load average "
            f"{load_before[0]:.1f} before and {os.getloadavg()[0]:.1f} after. Tracers present: {', '.join(present)}.\n")


def write_between_markers(path, text):
    with open(path, encoding="utf-8") as f:
        before, _, rest = f.read().partition(BEGIN)
    _, _, after = rest.partition(END)
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"{before}{BEGIN}\n{text}\n{END}{after}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="build folder with libproftrace.so, proftrace and bench/")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="workloads, comma-separated")
    parser.add_argument("--tracers", default="", help="configurations, comma-separated")
    parser.add_argument("--no-analysis", action="store_true")
    parser.add_argument("--large", action="store_true", help="also report on 1,000 M events (10 minutes, 5 GB of disk)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", help="file that gets the table between its markers")
    return parser.parse_args()


def measure_all(args, places, progress):
    library, proftrace = (os.path.abspath(f"{args.build}/{name}") for name in ("libproftrace.so", "proftrace"))
    known = tracers(library, proftrace, places.traces)
    if args.quick or args.tracers:
        keep = set((args.tracers or "off,sampled,full").split(",")) | {"bare"}
        known = {key: tracer for key, tracer in known.items() if key in keep}
    only = set(filter(None, args.only.split(",")))
    chosen = [w for w in WORKLOADS if not only or w.key in only]
    rounds = 2 if args.quick else args.rounds
    load = os.getloadavg()
    series = {w.key: measure.interleaved(w, known, rounds, places, args.quick, progress) for w in chosen
              if w.quick or not args.quick}
    figures = {}
    if not args.no_analysis and not only:
        by_key, repeats = {w.key: w for w in WORKLOADS}, 1 if args.quick else 3
        found = analysis.figures(by_key, known, places, proftrace, repeats, args.quick, args.large)
        found += launcher.figures(by_key["I1"], known["bare"], places, proftrace, repeats, args.quick)
        found += unwinding.figures(by_key["M1"], known["sampled"], places, proftrace, args.quick)
        figures = {f.key: f for f in found}
    present = [t.title.strip("*") for t in known.values()]
    return table.page(chosen, series, figures, circumstances(rounds, load, present), args.quick)


def main():
    args = arguments()
    base = tempfile.mkdtemp(prefix="proftrace-bench-")
    memory = tempfile.mkdtemp(prefix="proftrace-bench-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    places = Places(os.path.abspath(f"{args.build}/bench"), f"{base}/data", memory, f"{base}/traces")
    os.makedirs(places.data)
    if not args.quick:  # beside other tests these would get no CPU
        measure.raise_priority()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    try:
        with SessionDaemon():
            text = measure_all(args, places, lambda line: print(line, file=sys.stderr, flush=True))
    finally:
        shutil.rmtree(base, ignore_errors=True)
        shutil.rmtree(memory, ignore_errors=True)
    if args.write:
        write_between_markers(args.write, text)
    print(text)


if __name__ == "__main__":
    main()
