#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check a Chrome trace against what viewers need, stricter than any of them.

    check_chrome_trace.py trace.json[.gz] [--json] [--max-size BYTES]

Prints what is in the file. Exit 1 with the reasons when a viewer would reject it, drop something or draw it wrongly:
strict UTF-8 JSON with finite numbers, every event complete, slices of one track nested exactly (in integer nanoseconds), both
ends of every flow on a slice, a name for every process and thread.
"""
import argparse
import gzip
import json
import math
import sys
from collections import Counter, defaultdict
from decimal import Decimal

MAX_REASONS = 20
MAX_ID = 2**32 - 1
MAX_NS = 2**53  # viewers compute in doubles: absolute times lose their nanoseconds
NEEDED = {"X": ("name", "ts", "dur", "pid", "tid"), "i": ("name", "ts", "pid", "tid", "s"),
          "C": ("name", "ts", "pid", "args"), "M": ("name", "pid", "args"),
          "s": ("name", "cat", "id", "ts", "pid", "tid"), "f": ("name", "cat", "id", "ts", "pid", "tid", "bp")}


class Bad(Exception):
    pass


class Reasons:
    def __init__(self):
        self.texts, self.n = [], 0

    def add(self, text):
        self.n += 1
        if self.n <= MAX_REASONS:
            self.texts.append(text)


def refuse_constant(text):
    raise Bad(f"{text} is not JSON")


def read_number(text):
    if not math.isfinite(float(text)):
        raise Bad(f"the number {text} overflows")
    return Decimal(text)


def no_twins(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Bad(f"a key stands twice in an object: {sorted(key for key, _ in pairs)}")
    return found


def load(path):
    with open(path, "rb") as file:
        raw = file.read()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    try:
        text = raw.decode("utf-8")
        trace = json.loads(text, parse_constant=refuse_constant, parse_float=read_number, object_pairs_hook=no_twins)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Bad(str(error)) from error
    return trace, len(raw)


def nanoseconds(value):
    """Microseconds as integer ns; None when they are not a whole number of them."""
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        return None
    scaled = Decimal(value) * 1000
    return int(scaled) if scaled == scaled.to_integral_value() else None


def is_id(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_ID


def check_strings(value, where, reasons):
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            reasons.add(f"{where}: a lone surrogate in {value!r}")
    elif isinstance(value, dict):
        for key, item in value.items():
            check_strings(key, where, reasons)
            check_strings(item, where, reasons)
    elif isinstance(value, list):
        for item in value:
            check_strings(item, where, reasons)


def check_event(event, where, reasons):
    """True when the event is whole and its numbers can be used."""
    if not isinstance(event, dict) or event.get("ph") not in NEEDED:
        reasons.add(f"{where}: not an event of a kind we write: {str(event)[:80]}")
        return False
    missing = [key for key in NEEDED[event["ph"]] if key not in event]
    if missing:
        reasons.add(f"{where}: '{event['ph']}' without {', '.join(missing)}")
        return False
    if not isinstance(event["name"], str) or not is_id(event["pid"]) or not is_id(event.get("tid", 0)):
        reasons.add(f"{where}: name must be text, pid and tid small integers")
        return False
    for key in ("ts", "dur"):
        if key in event:
            event[key] = nanoseconds(event[key])
            if event[key] is None or not 0 <= event[key] < MAX_NS:
                reasons.add(f"{where}: {key} is no whole number of nanoseconds, or too far from the start of the run")
                return False
    if event["ph"] == "C" and not all(isinstance(v, (int, Decimal)) for v in event["args"].values()):
        reasons.add(f"{where}: a counter that is not a number")
        return False
    if event["ph"] == "i" and event["s"] not in ("g", "p", "t"):
        reasons.add(f"{where}: scope of an instant must be g, p or t")
    if event["ph"] == "f" and event["bp"] != "e":
        reasons.add(f"{where}: without bp \"e\" the arrow ends on the next slice")
    check_strings(event, where, reasons)
    return True


def check_nesting(tracks, reasons):
    for (pid, tid), slices in tracks.items():
        slices.sort(key=lambda s: (s[0], -s[1]))
        open_slices = []
        for start, end, name in slices:
            while open_slices and open_slices[-1][1] <= start:
                open_slices.pop()
            if open_slices and end > open_slices[-1][1]:
                reasons.add(f"pid {pid} tid {tid}: '{name}' [{start}, {end}] ns overlaps "
                            f"[{open_slices[-1][0]}, {open_slices[-1][1]}] ns by halves")
            if end > start:
                open_slices.append((start, end))


def check_flows(flows, tracks, reasons):
    pairs = 0
    begins = {track: {start for start, _, _ in slices} for track, slices in tracks.items()}

    def on_begin(event):
        return event["ts"] in begins.get((event["pid"], event["tid"]), ())

    def on_slice(event):
        slices = tracks.get((event["pid"], event["tid"]), ())
        return on_begin(event) or any(start <= event["ts"] <= end for start, end, _ in slices)

    for key, ends in flows.items():
        starts = [e for e in ends if e["ph"] == "s"]
        finishes = [e for e in ends if e["ph"] == "f"]
        if len(starts) != 1 or len(finishes) != 1:
            reasons.add(f"flow {key}: {len(starts)} starts and {len(finishes)} ends")
            continue
        pairs += 1
        if starts[0]["ts"] > finishes[0]["ts"]:
            reasons.add(f"flow {key} points back in time")
        if not on_slice(starts[0]):
            reasons.add(f"flow {key} starts on no slice")
        if not on_begin(finishes[0]):
            reasons.add(f"flow {key} ends where no slice begins")
    return pairs


def check_names(events, reasons):
    named = defaultdict(set)
    for event in events:
        if event["ph"] == "M":
            named[event["name"]].add((event["pid"], event.get("tid", 0) if event["name"].startswith("thread") else 0))
    used = {(e["pid"], e["tid"]) for e in events if e["ph"] in "Xisf"}
    for pid in sorted({e["pid"] for e in events} - {pid for pid, _ in named["process_name"]}):
        reasons.add(f"pid {pid} has no name")
    for pid, tid in sorted(used - named["thread_name"]):
        reasons.add(f"pid {pid} tid {tid} has no name")


def check(trace, reasons):
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        raise Bad("no object with traceEvents")
    check_strings({k: v for k, v in trace.items() if k != "traceEvents"}, "header", reasons)
    events = [event for i, event in enumerate(trace["traceEvents"]) if check_event(event, f"event {i}", reasons)]
    tracks, flows = defaultdict(list), defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], event["name"]))
        elif event["ph"] in "sf":
            flows[event["cat"], event["id"]].append(event)
    check_nesting(tracks, reasons)
    pairs = check_flows(flows, tracks, reasons)
    check_names(events, reasons)
    kinds = Counter(event["ph"] for event in events)
    return {"slices": kinds["X"], "instants": kinds["i"], "counters": kinds["C"], "flows": pairs, "metadata": kinds["M"],
            "processes": len({e["pid"] for e in events}), "tracks": len({(e["pid"], e["tid"]) for e in events if e["ph"] in "Xi"})}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    parser.add_argument("--max-size", type=int, default=256_000_000, help="before compression")
    args = parser.parse_args()
    reasons, counts = Reasons(), {}
    try:
        trace, size = load(args.file)
        if size > args.max_size:
            reasons.add(f"{size} bytes: viewers give up on more than {args.max_size}")
        counts = check(trace, reasons)
        counts["bytes"] = size
    except (Bad, OSError, EOFError) as error:
        reasons.add(str(error))
    print(json.dumps(counts) if args.json else ", ".join(f"{value} {key}" for key, value in counts.items()))
    for text in reasons.texts:
        print(f"{args.file}: {text}", file=sys.stderr)
    if reasons.n > MAX_REASONS:
        print(f"{args.file}: and {reasons.n - MAX_REASONS} more", file=sys.stderr)
    return 1 if reasons.n else 0


if __name__ == "__main__":
    sys.exit(main())
