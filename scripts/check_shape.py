#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Sizes of folders, files, functions and macros, and names: a table of how we stand, and a failure beyond the hard limits.

    check_shape.py [ROOT]

Long files and functions are where reviews get lost. What is longer on purpose stands in LONGER with its reason. A file may
be long where cutting it would need a header that only its halves share.
"""
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import csource  # noqa: E402
import deftable  # noqa: E402

MAX_FILE, MAX_FUNCTION, MAX_MACRO, MAX_MODULES = 500, 60, 15, 20
MAX_COMPLEXITY, MAX_PARAMETERS = 15, 6
TREES = ("include", "preload", "analyzer", "tests")
SOURCES = ("include", "preload", "analyzer")
# What may lie at the top, besides dot files: one stray download there once became part of every clone.
TOP = {"CMakeLists.txt", "preload", "analyzer", "include", "tests", "scripts", "docs", "README.md", "CHANGELOG.md", "LICENSE",
       "justfile"}
# Functions whose parameters somebody else has fixed.
FOREIGN_PARAMETERS = (
    ("preload/core/sys.h", "the kernel's ABI"),
    ("preload/cuda/", "CUDA's ABI"),
    ("preload/hooks/", "libc's ABI"),
    ("tests/fakecuda/", "CUDA's ABI"),
    ("tests/cuda/", "CUDA's ABI"),
)
# (path, name): who looks for a name without our prefix. Hooks and wrappers have a row, and need none here.
LINKED_WITHOUT_PREFIX = {
    ("preload/core/names/stack.c", "abort"): "libgcc's unwinder calls it; ours comes back to us instead of ending the host",
    ("preload/core/names/stack.c", "_dl_find_object"): "glibc's; ours is hidden and forwards to it",
    ("preload/core/names/stack.c", "pthread_once"): "libgcc's unwinder calls it; ours makes no system call",
    ("preload/cuda/inject.c", "InitializeInjection"): "the CUDA driver",
    ("preload/cuda/ranges/nvtx.c", "InitializeInjectionNvtx2"): "NVTX",
    ("preload/cuda/ranges/itt.c", "__itt_api_init"): "ITT",
    ("analyzer/main.c", "main"): "the C runtime",
}

# (path, name or "" for the whole file): reason
LONGER = {
    ("include/proftrace/codec.h", "pt_encode_records"): "one pass over one record; splitting it spills its nine cursors",
    ("include/proftrace/codec.h", "pt_decode_records"): "mirror of pt_encode_records",
}


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0


def stood_in_for(root):
    """Functions of others that we stand before: each has a row, in a table or (CUSTOM) beside its body."""
    names = set()
    for table in glob.glob(os.path.join(root, "preload", "**", "*.def"), recursive=True):
        names.update(argument for row in deftable.rows(table) for argument in row.args[:2])
    for path in csource.own_files(root, ["preload/hooks"], (".c",)):
        names.update(re.findall(r"(?m)^CUSTOM\([^,]*, (\w+),", csource.read(root, path)))
    return names


def check_names(path, text, allowed, problems):
    """Everything that is linked across files bears pt_: what has none is in a row, or meant to be static."""
    if not path.endswith(".c") or not path.startswith(SOURCES):
        return
    names = [f.name for f in csource.functions(text) if not f.is_static and not f.is_exported] + list(csource.linked_data(text))
    for name in sorted(set(names)):
        if not name.startswith(("pt_", "proftrace_")) and name not in allowed and (path, name) not in LINKED_WITHOUT_PREFIX:
            problems.append(f"{path}: {name} is linked and does not begin with pt_")


def check_folders(root, problems):
    """A folder that a person can take in: a module is a .c with its .h."""
    modules = {}
    for path in csource.own_files(root, SOURCES, (".c", ".h")):
        modules.setdefault(os.path.dirname(path), set()).add(os.path.splitext(path)[0])
    for folder, found in sorted(modules.items()):
        if len(found) > MAX_MODULES:
            problems.append(f"{folder}: {len(found)} modules, at most {MAX_MODULES}")


def check_top(root, problems):
    tracked = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files"], capture_output=True, text=True, check=False).stdout.split("\n")
    for name in sorted({path.split("/")[0] for path in tracked if path} - TOP):
        if not name.startswith("."):
            problems.append(f"{name}: the top level is fixed; find it a folder, or remove it")


def measure(root, tree, allowed, problems):
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
        check_names(path, text, allowed, problems)
    if not files:
        return
    p = percentile
    print(f"{tree:10}{len(files):6}{p(files, .5):8}{p(files, .9):6}{max(files):6}{len(lengths):8}{p(lengths, .5):6}"
          f"{p(lengths, .9):6}{max(lengths or [0]):6}{p(complexities, .9):8}{max(complexities or [0]):6}"
          f"{100 * comment // max(1, sum(files)):8} %{1000 * gotos / max(1, sum(files)):9.1f}")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(HERE)
    problems, allowed = [], stood_in_for(root)
    print("tree       files  lines p50   p90   max  functions p50  p90   max  branches p90 max comments goto/kloc")
    for tree in TREES:
        measure(root, tree, allowed, problems)
    check_folders(root, problems)
    check_top(root, problems)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
