#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pipelines with one planted bottleneck each: the planted one is the top finding, its bound holds the real gain, and the fixed
variant is (nearly) free of it; a clean program has no finding, but for what is worth next to nothing. What is planted in Python is named by file and function, or line. What it is, where it lies and what it is worth stand in the first
20 lines of the screen.

  run.py [--slow N] [--beside N] BUILD [CASE...]
         --slow: N rounds of everything; the bounds must hold in 95 % of them, and be no more than a quarter above the gain in half of them
         --beside: with N busy loops beside them, one round: the planted one must be the first finding of nine in ten; what was
         measured of its bound is told, not judged

The real gain is the wall time of the bad variant less that of the fixed one, both recorded; 30 ms and 3 % are let pass, by which two runs of the
same program differ. Other load of the machine lengthens either:
so a bound that does not hold is measured twice more, and holds when it does in two of three. Nothing else depends on a clock.
That other programs are busy is a finding, too: it counts only where it is planted or where this script saw none.
"""
import argparse
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import truth_of_place
from others import Others, busy_loops
from suite import CASES
from surroundings import Skip

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from possible import impossible  # noqa: E402

PROGRAMS = os.path.join(HERE, "programs")
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
OURS = ("PROFTRACE_", "LD_PRELOAD", "PLANTED_", "FAKENVML")
SKIPPED = 77
places = {}  # name of a case: (verdict, confidence) of its last round
NEIGHBOUR = "noisy_neighbour"
STOLEN = "stolen_cpus"  # by the host of a virtual machine
BLAS = "reference_blas"  # which library multiplies matrices is a matter of the machine
CLOCKS_S, CLOCKS_PART = 0.03, 0.03  # what two runs of the same program differ by, as in tests/random
LITTLE_PERCENT = 5  # of a run, as a bound, as in tests/clean


def fast_blas():
    """Where Debian's OpenBLAS is installed, it multiplies the matrices, in one thread, as PyPI's PyTorch does without it: with the reference
    BLAS most of a training would be that."""
    found = glob.glob("/usr/lib/*/openblas-pthread/libblas.so.3")
    return {"LD_LIBRARY_PATH": os.path.dirname(found[0]), "OPENBLAS_NUM_THREADS": "1"} if found else {}


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def command_of(case, folder, is_fixed):
    source = os.path.join(PROGRAMS, case.program)
    if case.program.endswith(".py"):
        return [PYTHON, source, *case.words]
    program = os.path.join(folder, case.name + ("-fixed" if is_fixed else ""))
    subprocess.run(["cc", "-O1", "-o", program, source, *case.cc[is_fixed]], check=True)
    return [program, *case.words]


def first_lines(build, run):
    """What is seen without scrolling, as one line: a terminal breaks sentences where it must."""
    screen = subprocess.run([os.path.join(build, "proftrace"), "report", run], env={**os.environ, "COLUMNS": "100"}, capture_output=True,
                            text=True, check=True, timeout=120).stdout
    return " ".join(" ".join(screen.splitlines()[:20]).split())


def record(build, case, folder, is_fixed):
    """The report of one variant, with what its screen begins with as `screen`."""
    command = command_of(case, folder, is_fixed)
    data = os.path.join(folder, f"data-{int(is_fixed)}")
    base = {**{k: v for k, v in os.environ.items() if not k.startswith(OURS)}, **fast_blas()}
    if case.program.endswith(".py") and not is_fixed:
        subprocess.run([*command, "--prepare"], cwd=folder, env=base, check=True, timeout=120)
    if case.needs_warm_code:  # a library that is read for the first time is a finding of its own
        subprocess.run([*command, *([] if case.rule is None else ["--fixed"])], cwd=folder, env=base, check=True, timeout=120,
                       stdout=subprocess.DEVNULL)
    with case.around[is_fixed](folder) as start:
        environment = {**base, **start.environment, "PROFTRACE_DIR": data}
        whole = [*start.prefix, os.path.join(build, "proftrace"), "run", "--stage", case.name, *case.options, "--", *command,
                 *(["--fixed"] if is_fixed else [])]
        with Others() as others:
            done = subprocess.run(whole, cwd=folder, env=environment, preexec_fn=start.first, capture_output=True, timeout=120,
                                  check=False)
    if done.returncode:
        raise SystemExit(f"{case.name}: ends with {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}")
    with open(os.path.join(data, "latest", "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    for number, finding in enumerate(report["findings"] + report["observations"], 1):
        finding["number"] = number
    report["screen"] = first_lines(build, os.path.join(data, "latest"))
    if others.percent > 5 and case.needs_idle_cpus and not is_fixed:
        raise Skip(f"other programs use {others.percent:.0f} % of this machine")
    if others.percent > 5 and case.rule != NEIGHBOUR:
        report["findings"] = [f for f in report["findings"] if f["rule"] != NEIGHBOUR]
    for rule in BLAS, STOLEN:
        report["findings"] = [f for f in report["findings"] if f["rule"] != rule or rule == case.rule]
    return report


def told(report):
    return ", ".join(f"{f['rule']} {f['gain_upper_s']:.2f} s" for f in report["findings"]) or "nothing"


def problems_of_screen(finding, screen):
    """What, where and, where it is a matter of time, what it is worth."""
    number = finding["number"]
    worth = "up to .* " if finding.get("gain_upper_s") else r".* \(\d+ %\) " if "time_s" in finding else ""
    headline = worth + re.escape(finding["title"])
    return [] if re.search(rf" {number} {headline} where \S", screen) else [f"finding {number} is not on the screen: {screen}"]


def verdict_of_place(case, report):
    """How well the first finding names the line of Python that the program has marked, and its confidence; None where it marks none."""
    spots = truth_of_place.spots_of([os.path.join(PROGRAMS, case.program)])
    findings = report["findings"] + report["observations"]
    if not spots or not findings:
        return None
    verdict, first = truth_of_place.verdict(spots, findings[0]["place"]), findings[0]
    if verdict not in (truth_of_place.LINE, truth_of_place.FUNCTION):
        print(f"     {case.name}: {first['rule']}, {first['confidence']}, place {verdict}: {truth_of_place.told(first['place'])}")
    places[case.name] = (verdict, first["confidence"])
    return verdict


def problems_of_place(case, place):
    """Without the right to look at it from outside nobody knows the function."""
    if not case.place or "needs" in (place.get("function_reason") or ""):
        return []
    return [] if place["function"] in case.place or place["language"] in case.place else [f"it points to {place}"]


def problems_of_bad(case, report):
    findings = report["findings"]
    if case.rule is None:
        is_seen = any(not 0 < (finding["gain_upper_percent"] or 0) < LITTLE_PERCENT for finding in findings)
        problems = [f"a clean program has {told(report)}"] if is_seen else []
        seen = report["observations"]
        if case.sees and (not seen or seen[0]["rule"] != case.sees):
            return problems + [f"the first observation is not {case.sees}: {[o['rule'] for o in seen]}"]
        if case.sees and case.remedy not in seen[0]["remedy"]:
            return problems + [f"it says to do {seen[0]['remedy']}"]
        return problems + (problems_of_place(case, seen[0]["place"]) + problems_of_screen(seen[0], report["screen"]) if case.sees else [])
    if not findings or findings[0]["rule"] != case.rule:
        return [f"the top finding is not the planted one: {told(report)}"]
    remedy = [] if case.remedy in findings[0]["remedy"] else [f"it says to do {findings[0]['remedy']}"]
    key, wanted = case.evidence
    shown = findings[0]["evidence"].get(key) or ""
    remedy += [] if wanted in shown else [f"its {key} is {shown}"]
    return remedy + problems_of_screen(findings[0], report["screen"]) + problems_of_place(case, findings[0]["place"])


def play(build, case):
    """One round: (problems, the bound's part above what was surely gained, a line that tells)."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="planted-"))
    try:
        bad = record(build, case, folder, False)
        verdict = verdict_of_place(case, bad)
        problems = problems_of_bad(case, bad) + impossible(bad)
        if case.rule is None or problems:
            return problems, None, f"{bad['total_duration_s']:.2f} s: {told(bad)}"
        fixed = record(build, case, folder, True)
        problems += impossible(fixed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(f"/dev/shm/{os.path.basename(folder)}", ignore_errors=True)
        shared = f"/dev/shm/planted-{os.path.basename(folder)}"
        if os.path.exists(shared):
            os.unlink(shared)
    gain, bound = bad["total_duration_s"] - fixed["total_duration_s"], bad["findings"][0]["gain_upper_s"]
    if any(f["rule"] == case.rule and f["gain_upper_s"] >= bound / 3 for f in fixed["findings"]):
        problems.append(f"the fixed variant still has it: {told(fixed)}")
    line = f"{bad['total_duration_s']:.2f} s, fixed {fixed['total_duration_s']:.2f} s, gain {gain:.2f} s, bound {bound:.2f} s"
    others = [f for f in bad["findings"][1:] if f["gain_upper_s"] > 0]
    line += f"; also {', '.join(f['rule'] for f in others)}" if others else ""
    line += f"; place {verdict}" if verdict else ""
    surely_s = gain - CLOCKS_S - CLOCKS_PART * gain
    return problems, (bound / max(surely_s, 0.001) - 1 if case.in_seconds else None), line


def judge_beside(build, cases, n):
    """Whether enough of them are found although others compute."""
    wrong, played = [], 0
    with busy_loops(n):
        for case in cases:
            if case.rule == NEIGHBOUR or case.needs_idle_cpus:
                continue
            try:
                runs(case)
                problems, _, line = play(build, case)
            except Skip as reason:
                print(f"skip {case.name}: {reason}", flush=True)
                continue
            played += 1
            wrong += [case.name] if problems else []
            print(f"{'FAIL' if problems else 'ok  '} {case.name}: {line} {problems or ''}", flush=True)
    judge_places()
    print(f"beside {n} busy loops: {played - len(wrong)} of {played} as planted; not: {' '.join(wrong) or 'none'}")
    return len(wrong) > played / 10


def judge(build, case):
    holds = []
    while True:
        problems, excess, line = play(build, case)
        print(f"{'FAIL' if problems else 'ok  '} {case.name}: {line}", flush=True)
        for problem in problems:
            print(f"     {problem}")
        holds.append(excess is None or excess >= 0)
        if problems or holds == [True]:
            return not problems
        if holds.count(True) == 2 or holds.count(False) == 2:
            return holds.count(True) == 2


def judge_places():
    """Whether the places of Python code are as good as promised."""
    verdicts = list(places.values())
    counts = ", ".join(f"{sum(v == kind for v, _ in verdicts)} {kind}" for kind in truth_of_place.KINDS)
    if verdicts:
        print(f"places of {len(verdicts)} causes in Python: {counts}")
    return truth_of_place.holds(verdicts)


def runs(case):
    """Whether this machine can play it."""
    for module in ["torch"] * case.needs_torch + ["pandas"] * case.needs_pandas:
        if not has(module):
            raise Skip(f"no {module}")
    if case.program.endswith(".c") and not shutil.which("cc"):
        raise Skip("no compiler")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--slow", type=int, default=0, metavar="N")
    parser.add_argument("--beside", type=int, default=0, metavar="N")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    wanted = [c for c in CASES if not arguments.cases or c.name in arguments.cases]
    if arguments.beside:
        return int(judge_beside(build, wanted, arguments.beside))
    failed, skipped, excesses = [], [], []
    for case in wanted * max(arguments.slow, 1):
        try:
            runs(case)
            if arguments.slow:
                problems, excess, line = play(build, case)
                print(f"{'FAIL' if problems else 'ok  '} {case.name}: {line} {problems or ''}", flush=True)
                excesses += [excess] if excess is not None else []
                good = not problems
            else:
                good = judge(build, case)
        except Skip as reason:
            print(f"skip {case.name}: {reason}", flush=True)
            skipped.append(case.name)
            continue
        failed += [] if good else [case.name]
    if excesses:
        held, median = sum(e >= 0 for e in excesses), statistics.median(excesses)
        print(f"the bound holds in {held} of {len(excesses)} runs; the median is {100 * median:.0f} % above the gain")
        failed += ["bounds"] if held < 0.95 * len(excesses) or median > 0.25 else []
    failed += [] if judge_places() else ["places"]
    if failed:
        print("failed:", " ".join(failed))
        return 1
    return SKIPPED if skipped and len(skipped) == len(wanted) else 0


if __name__ == "__main__":
    sys.exit(main())
