#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Sizes of files, functions and macros: a table of how we stand, and a failure beyond the hard limits.

Long files and functions are where reviews get lost. What is longer on purpose stands in LONGER with its reason.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import csource  # noqa: E402

MAX_FILE, MAX_FUNCTION, MAX_MACRO, MAX_COMPLEXITY = 400, 60, 15, 25
TREES = ("include", "preload", "analyzer", "tests")

# (path, name or "" for the whole file): reason
LONGER = {
    ("include/proftrace/codec.h", "pt_encode_records"): "one pass over one record; splitting it spills its nine cursors",
    ("include/proftrace/codec.h", "pt_decode_records"): "mirror of pt_encode_records",
}


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0


def measure(root, tree, problems):
    files, lengths, complexities, comment, gotos = [], [], [], 0, 0
    for path in csource.own_files(root, [tree], (".c", ".h", ".def")):
        text = csource.read(root, path)
        lines = text.count("\n")
        files.append(lines)
        comment += sum(1 for a, b in zip(text.split("\n"), csource.blanked(text).split("\n")) if a.strip() and not b.strip())
        if lines > MAX_FILE and not path.endswith(".def") and (path, "") not in LONGER:
            problems.append(f"{path}: {lines} lines, at most {MAX_FILE}")
        for name, line, n in csource.macros(text):
            if n > MAX_MACRO and (path, name) not in LONGER:
                problems.append(f"{path}:{line}: macro {name} has {n} lines, at most {MAX_MACRO}: write a function")
        for f in csource.functions(text):
            lengths.append(f.lines)
            complexities.append(f.complexity)
            gotos += f.gotos
            if (path, f.name) in LONGER:
                continue
            if f.lines > MAX_FUNCTION:
                problems.append(f"{path}:{f.line}: {f.name} has {f.lines} lines, at most {MAX_FUNCTION}")
            elif f.complexity > MAX_COMPLEXITY:
                problems.append(f"{path}:{f.line}: {f.name} has {f.complexity} branches, at most {MAX_COMPLEXITY}")
    if not files:
        return
    p = percentile
    print(f"{tree:10}{len(files):6}{p(files, .5):8}{p(files, .9):6}{max(files):6}{len(lengths):8}{p(lengths, .5):6}"
          f"{p(lengths, .9):6}{max(lengths or [0]):6}{p(complexities, .9):8}{max(complexities or [0]):6}"
          f"{100 * comment // max(1, sum(files)):8} %{1000 * gotos / max(1, sum(files)):9.1f}")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(HERE)
    problems = []
    print("tree       files  lines p50   p90   max  functions p50  p90   max  branches p90 max comments goto/kloc")
    for tree in TREES:
        measure(root, tree, problems)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
