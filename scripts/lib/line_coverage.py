#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How many of our lines the tests of a coverage build reached: a table by folder, and a failure below the floor.

usage: line_coverage.py BUILD [--files | --missed PATH]
  --files         a row for each file, those with most missed lines first
  --missed PATH   the lines of one file that nothing reached
"""
import collections
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLOOR_PERCENT = 85
HALVES = ("analyzer", "preload")
GPU = ("preload/cuda/", "analyzer/analysis/gpu/", "analyzer/sampler/gpu/")  # need a GPU, or its doubles
LIBRARIES = ("libproftrace_analysis.so", "libproftrace.so")


def tool(name):
    """llvm-cov of the clang that built it; Debian numbers it where the unnumbered package is not installed."""
    version = subprocess.run(["clang", "-dumpversion"], capture_output=True, text=True, check=True).stdout.split(".")[0]
    found = shutil.which(f"{name}-{version}") or shutil.which(name)
    if not found:
        sys.exit(f"coverage: {name} is missing; install the package llvm")
    return found


def gather(build):
    """The counters of each library as clang's tools read them."""
    folder, raw = os.path.join(build, "coverage"), []
    for library in LIBRARIES:
        raw.append(os.path.join(folder, library + ".profraw"))
        subprocess.run(["/bin/true"], env={"LD_PRELOAD": os.path.join(build, library), "PT_COVERAGE_WRITE": raw[-1]}, check=True)
    merged = os.path.join(folder, "all.profdata")
    subprocess.run([tool("llvm-profdata"), "merge", "-o", merged, *raw], check=True)
    return merged


def lines_by_file(build, merged):
    """{path: {line: how often it ran}} of all of ours."""
    libraries = [os.path.join(build, library) for library in LIBRARIES]
    told = subprocess.run([tool("llvm-cov"), "export", "-format=lcov", f"-instr-profile={merged}", libraries[0],
                           "-object", libraries[1]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    found, lines = {}, {}
    for row in told.splitlines():
        key, _, value = row.partition(":")
        if key == "SF":
            path = os.path.relpath(value, ROOT)
            lines = found.setdefault(path, {}) if path.startswith(HALVES) else {}
        elif key == "DA":
            line, count = value.split(",")
            lines[int(line)] = int(count)
    return {path: lines for path, lines in found.items() if lines}


def show_missed(path, lines):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            if lines.get(number) == 0:
                print(f"{number:5} {text}", end="")


def percent(lines, reached):
    return 100 * reached / lines if lines else 100


def print_rows(rows, width):
    for name, (lines, reached) in rows:
        print(f"{name:{width}} {lines:7} {lines - reached:7} {percent(lines, reached):6.1f} %")


def totals(files):
    """Rows for the folders of each half, and one for the half without its GPU parts."""
    folders, halves = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(lambda: [0, 0])
    for path, counts in files.items():
        is_gpu = path.startswith(GPU)
        for row in [folders[os.path.dirname(path)]] + ([] if is_gpu else [halves[path.split("/")[0]]]):
            row[0] += counts[0]
            row[1] += counts[1]
    return sorted(folders.items()), sorted(halves.items())


def main(arguments):
    build = os.path.abspath(arguments[0])
    merged = gather(build)
    by_file = lines_by_file(build, merged)
    if "--missed" in arguments:
        path = os.path.relpath(os.path.abspath(arguments[-1]), ROOT)
        show_missed(path, by_file[path])
        return 0
    files = {path: (len(lines), sum(count > 0 for count in lines.values())) for path, lines in by_file.items()}
    if "--files" in arguments:
        print_rows(sorted(files.items(), key=lambda row: row[1][1] - row[1][0]), 48)
        return 0
    folders, halves = totals(files)
    print(f"{'':40} {'lines':>7} {'missed':>7} {'reached':>8}")
    print_rows(folders, 40)
    print()
    print_rows([(f"{half}/ without GPU parts", counts) for half, counts in halves], 40)
    below = [half for half, counts in halves if percent(*counts) < FLOOR_PERCENT]
    for half in below:
        print(f"coverage: {half}/ is below {FLOOR_PERCENT} %")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
