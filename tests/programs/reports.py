# SPDX-License-Identifier: MIT
"""What the traces of a story say: nothing was lost without a true reason, and the report holds nothing impossible."""
import json
import os
import re
import subprocess
import sys

sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
import possible  # noqa: E402

NONSENSE = re.compile(r"(?<!\S)(nan|inf|-0(\.0+)?)(?!\S)|\b\d{4,} h\b", re.IGNORECASE)
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}


def tool(build, *arguments):
    done = subprocess.run([os.path.join(build, "proftrace"), *arguments], env=ENVIRONMENT, capture_output=True, timeout=300, check=False)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def as_json(build, *arguments):
    status, out, err = tool(build, *arguments)
    if status:
        raise RuntimeError(f"proftrace {' '.join(arguments)} ends with {status}: {err[-500:]}")
    return json.loads(out)


def of_losses(info, program):
    """What was not recorded, but for what the row of the program explains."""
    events = info["events"]
    for what in ("overwritten", "damaged"):
        if events[what] and what not in program.may_lose:
            yield f"{events[what]} events {what}"
    for reason, n in events["drop_reasons"].items():
        if reason not in program.may_lose:
            yield f"{n} events dropped: {reason}"
    for note in info["notes"]:
        if "not recorded" in note and "processes" not in program.may_lose:
            yield note


def of_account(report):
    """The parts of a stage's time account are its wall time; computing is Python and native together."""
    for stage in report["stages"]:
        time = stage["time"]
        but = ("wall_s", "python_s", "native_s") if time.get("computing_s") is not None else ("wall_s",)
        parts = sum(value for key, value in time.items() if key.endswith("_s") and key not in but and value is not None)
        if time.get("wall_s") is not None and abs(parts - time["wall_s"]) > 0.02 * time["wall_s"] + 0.001:
            yield f"{stage['stage']}: the parts of its account are {parts:.6f} s, its wall time {time['wall_s']:.6f} s"


def of_report(build, run):
    report = as_json(build, "report", run, "--format", "json")
    yield from possible.impossible(report)
    yield from of_account(report)
    status, text, err = tool(build, "report", run, "--full")
    if status or err:
        yield f"report ends with {status} and says {err[:300]!r}"
    for line in text.splitlines():
        if NONSENSE.search(line):
            yield f"report says: {line.strip()}"


def check(build, traces, program):
    """(problems, a few facts as text) of all runs below a folder of traces."""
    runs = sorted(entry.path for entry in os.scandir(traces) if entry.is_dir(follow_symlinks=False))
    if not runs:
        return ([] if program.untraced else ["nothing was recorded"]), "no trace"
    problems, processes, events, size = [], 0, 0, 0
    for run in runs:
        try:
            info = as_json(build, "info", run, "--json")
            problems += [*of_losses(info, program), *of_report(build, run)]
            processes += len(info["processes"])
            events += info["events"]["recorded"]
            size += sum(entry.stat().st_blocks * 512 for entry in os.scandir(run) if entry.is_file(follow_symlinks=False))
        except (RuntimeError, ValueError, KeyError) as error:
            problems.append(f"{type(error).__name__}: {error}")
    return problems, f"{processes} processes, {events:,} events, {size >> 20} MiB"
