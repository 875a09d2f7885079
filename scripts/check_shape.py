#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Sizes of folders, files, functions and macros, and names: a table of how we stand, and a failure beyond the hard limits.

Long files and functions are where reviews get lost. What is longer on purpose stands in LONGER with its reason. A file may
be long where cutting it would need a header that only its halves share.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import csource  # noqa: E402

MAX_FILE, MAX_FUNCTION, MAX_MACRO, MAX_MODULES = 500, 60, 15, 20
MAX_COMPLEXITY, MAX_PARAMETERS = 25, 10  # on their way down
if "--strict" in sys.argv:
    sys.argv.remove("--strict")
    MAX_COMPLEXITY, MAX_PARAMETERS = 15, 6
TREES = ("include", "preload", "analyzer", "tests")
SOURCES = ("include", "preload", "analyzer")
# Functions whose parameters somebody else has fixed.
FOREIGN_PARAMETERS = (
    ("preload/core/sys.h", "the kernel's ABI"),
    ("preload/cuda/", "CUDA's ABI"),
    ("preload/hooks/", "libc's ABI"),
    ("tests/fakecuda/", "CUDA's ABI"),
    ("tests/cuda/", "CUDA's ABI"),
)
# Names that are linked without our prefix, since somebody else looks for them.
FOREIGN_NAMES = ("preload/hooks/", "preload/cuda/", "analyzer/main.c")
# (path, name): reason
LINKED_WITHOUT_PREFIX = {
    ("preload/core/names/stack.c", "abort"): "libgcc's unwinder calls it; ours comes back to us instead of ending the host",
    ("preload/core/names/stack.c", "_dl_find_object"): "glibc's; ours is hidden and forwards to it",
}

# (path, name or "" for the whole file): reason
LONGER = {
    ("include/proftrace/codec.h", "pt_encode_records"): "one pass over one record; splitting it spills its nine cursors",
    ("include/proftrace/codec.h", "pt_decode_records"): "mirror of pt_encode_records",
}


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0


def check_names(path, text, problems):
    """Everything that is linked across files bears pt_: what has none is a hook, or meant to be static."""
    if not path.endswith(".c") or not path.startswith(SOURCES) or path.startswith(FOREIGN_NAMES):
        return
    names = [f.name for f in csource.functions(text) if not f.is_static] + list(csource.linked_data(text))
    for name in sorted(set(names)):
        if not name.startswith(("pt_", "proftrace_")) and (path, name) not in LINKED_WITHOUT_PREFIX:
            problems.append(f"{path}: {name} is linked and does not begin with pt_")


def check_folders(root, problems):
    """A folder that a person can take in: a module is a .c with its .h."""
    modules = {}
    for path in csource.own_files(root, SOURCES, (".c", ".h")):
        modules.setdefault(os.path.dirname(path), set()).add(os.path.splitext(path)[0])
    for folder, found in sorted(modules.items()):
        if len(found) > MAX_MODULES:
            problems.append(f"{folder}: {len(found)} modules, at most {MAX_MODULES}")


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
            if f.parameters > MAX_PARAMETERS and not path.startswith(tuple(p for p, _ in FOREIGN_PARAMETERS)):
                problems.append(f"{path}:{f.line}: {f.name} has {f.parameters} parameters, at most {MAX_PARAMETERS}: pass a struct")
        if MAX_COMPLEXITY == 15:
            check_names(path, text, problems)
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
    check_folders(root, problems)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
