#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Who may include whom. The arrows of docs/architecture.md, checked over every #include.

A folder may include itself and the folders named beside it. preload/ and analyzer/ know only include/proftrace/ of each
other's world. A third-party header appears in the files named for it and nowhere else.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import csource  # noqa: E402

# folder: folders it may include besides itself and include/proftrace
UTIL = ["analyzer/util", "analyzer/util/text", "analyzer/util/json"]
# The files that the launcher writes and the offline chain reads.
FILES = ["analyzer/run_file", "analyzer/cpu_file", "analyzer/torch_file", "analyzer/options"]
TRACE = ["analyzer/source", "analyzer/decode", "analyzer/merge"]
MODEL = [*TRACE, *FILES, "analyzer/model", "analyzer/symbols"]
KNOWN = [*MODEL, "analyzer/profile", "analyzer/facts"]
WATCH = [*FILES, "analyzer/sampler", "analyzer/cpu_profile"]
MAY_INCLUDE = {
    "include/proftrace": [],
    # the injected half: the core knows nothing of the hook families
    "preload/core": [],
    "preload/hooks": ["preload/core"],
    "preload/hooks/heap": ["preload/core"],
    "preload/cuda": ["preload/core"],
    "preload/python": ["preload/core", "preload/hooks/heap"],
    "preload": ["preload/core", "preload/hooks"],
    # the offline chain, each on those before it
    "analyzer/util": [],
    "analyzer/util/text": ["analyzer/util"],
    "analyzer/util/json": ["analyzer/util", "analyzer/util/text"],
    "analyzer/options": UTIL,
    "analyzer/run_file": UTIL,
    "analyzer/cpu_file": UTIL,
    "analyzer/torch_file": UTIL,
    "analyzer/source": UTIL,
    "analyzer/decode": [*UTIL, "analyzer/source"],
    "analyzer/merge": [*UTIL, "analyzer/source", "analyzer/decode"],
    "analyzer/model": [*UTIL, *TRACE, "analyzer/options"],
    "analyzer/symbols": [*UTIL, *TRACE, "analyzer/model"],
    "analyzer/profile": [*UTIL, *MODEL],
    # what several analyses ask: they see events and the session, never files
    "analyzer/facts": [*UTIL, *MODEL, "analyzer/profile"],
    # no events: totals, samples and metrics
    "analyzer/derive": [*UTIL, *KNOWN],
    "analyzer/analysis": [*UTIL, *KNOWN, "analyzer/derive"],
    # rules see metrics, never events
    "analyzer/rules": [*UTIL, *KNOWN],
    "analyzer/report": [*UTIL, *KNOWN, "analyzer/analysis", "analyzer/rules"],
    "analyzer/export": [*UTIL, *KNOWN, "analyzer/analysis", "analyzer/rules", "analyzer/report"],
    # two runs side by side: what their reports say
    "analyzer/diff": [*UTIL, *KNOWN, "analyzer/rules", "analyzer/report"],
    "analyzer/compare": [*UTIL, *KNOWN, "analyzer/rules", "analyzer/report"],
    "analyzer/regression": [*UTIL, *KNOWN, "analyzer/rules", "analyzer/report"],
    # the launcher stands beside the chain: it may show its result, not take part in it
    "analyzer/sampler": [*UTIL, "analyzer/run_file"],
    "analyzer/cpu_profile": [*UTIL, "analyzer/cpu_file"],
    # the processes that run now: beside the chain, with what the sampler of stacks and the names of the chain can do
    "analyzer/stacks": [*UTIL, *MODEL, "analyzer/cpu_profile"],
    "analyzer/launcher": [*UTIL, *WATCH],
    "analyzer/pipeline": [*UTIL, *WATCH, "analyzer/launcher"],
    # pages of runs: it looks at run.json and how its stages ended, and lets commands read the rest
    "analyzer/serve": [*UTIL, "analyzer/run_file", "analyzer/profile", "analyzer/report"],
    "analyzer/cmd": [*UTIL, *KNOWN, "analyzer/analysis", "analyzer/rules", "analyzer/report", "analyzer/export", *WATCH,
                     "analyzer/launcher", "analyzer/pipeline", "analyzer/stacks", "analyzer/diff", "analyzer/compare", "analyzer/regression",
                     "analyzer/serve"],
    "analyzer": ["analyzer/cmd", *UTIL],
}

# header: files that may include it
THIRD_PARTY = {
    r"zstd(_errors)?\.h": r"preload/core/(private|file/rollover)\.[ch]|analyzer/source/\w+\.[ch]",
    r"zlib\.h": r"analyzer/(util|export/out|torch_file)/\w+\.[ch]",
    r"elfutils/.*|dwarf\.h|libelf\.h|gelf\.h": r"analyzer/symbols/\w+\.[ch]|analyzer/cpu_profile/cfi\w*\.[ch]|analyzer/stacks/(core|outside)\.c",
    r"(cjson/)?cJSON\.h": r"analyzer/(report|diff|compare|regression|cmd|launcher|pipeline|run_file|torch_file)/\w+\.[ch]|analyzer/util/json/\w+\.[ch]",
    r"unwind\.h": r"preload/core/names/(stack|frame_check)\.[ch]",
    r"dlfcn\.h": r"preload/core/real/may_be_missing\.h|preload/core/names/module\.h|"
                 r"analyzer/launcher/(checks/)?\w+\.c|analyzer/sampler/gpu/\w+\.c|analyzer/symbols/(demangle|debuginfod)\.c",
}

# (file, included): reason
EXCEPTIONS = {}


def includes(text):
    for number, line in enumerate(csource.blanked(text, keep_strings=True).split("\n"), 1):
        m = re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', line)
        if m:
            yield number, m.group(1) or m.group(2), bool(m.group(1))


def folder_of(path):
    """preload/hooks/x/y.c -> preload/hooks: the folder of the table that the file belongs to."""
    folder = os.path.dirname(path)
    while folder and folder not in MAY_INCLUDE:
        folder = os.path.dirname(folder)
    return folder


def check_file(root, paths, path, problems):
    here = folder_of(path)
    allowed = {here, "include/proftrace", *MAY_INCLUDE.get(here, [])}
    if not here:
        problems.append(f"{path}: its folder is not in the table of scripts/check_layers.py")
        return
    for line, name, quoted in includes(csource.read(root, path)):
        target = csource.resolve(paths, path, name) if quoted or name.startswith("proftrace/") else None
        if target and folder_of(target) not in allowed and (path, target) not in EXCEPTIONS:
            problems.append(f"{path}:{line}: {here} must not include {target}")
        for header, files in THIRD_PARTY.items():
            if not target and re.fullmatch(header, name) and not re.fullmatch(files, path):
                problems.append(f"{path}:{line}: <{name}> belongs into {files}")


def check_page(root, problems):
    """docs/architecture.md names each folder of the table and each list: a newcomer looks there first."""
    with open(os.path.join(root, "docs", "architecture.md"), encoding="utf-8") as file:
        page = file.read()
    for folder in MAY_INCLUDE:
        name = folder.partition("/")[2]
        if folder.startswith("analyzer/") and f"`{name}/`" not in page:
            problems.append(f"docs/architecture.md does not say what {folder}/ owns")
    for path in csource.own_files(root, ["include", "preload", "analyzer"], (".def",)):
        folder, name = os.path.split(path)
        if f"`{name}`" not in page and f"`{path}`" not in page and not re.fullmatch(r"preload/hooks/\w+", folder):
            problems.append(f"docs/architecture.md does not say what follows from {path}")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(HERE)
    problems = []
    check_page(root, problems)
    paths = csource.own_files(root, ["include", "preload", "analyzer"], (".c", ".h", ".def"))
    known = set(paths)
    for path in paths:
        check_file(root, known, path, problems)
    for problem in problems:
        print(problem)
    print(f"{len(paths)} files, {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
