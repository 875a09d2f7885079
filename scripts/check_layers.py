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
MAY_INCLUDE = {
    "include/proftrace": [],
    # the injected half: the core knows nothing of the hook families
    "preload/core": [],
    "preload/hooks": ["preload/core"],
    "preload/cuda": ["preload/core"],
    "preload": ["preload/core", "preload/hooks"],
    # the offline chain, each on those before it
    "analyzer/util": [],
    "analyzer/source": ["analyzer/util"],
    "analyzer/decode": ["analyzer/util", "analyzer/source"],
    "analyzer/merge": ["analyzer/util", "analyzer/source", "analyzer/decode"],
    "analyzer/model": ["analyzer/util", "analyzer/source", "analyzer/decode", "analyzer/merge"],
    # analyses see events and the session, never files
    "analyzer/analysis": ["analyzer/util", "analyzer/decode", "analyzer/merge", "analyzer/model"],
    # rules see metrics, never events
    "analyzer/rules": ["analyzer/util", "analyzer/analysis"],
    "analyzer/report": ["analyzer/util", "analyzer/model", "analyzer/analysis", "analyzer/rules"],
    "analyzer/export": ["analyzer/util", "analyzer/decode", "analyzer/merge", "analyzer/model", "analyzer/analysis"],
    # the launcher stands beside the chain: it may show its result, not take part in it
    "analyzer/sampler": ["analyzer/util"],
    "analyzer/cpu_profile": ["analyzer/util"],
    "analyzer/launcher": ["analyzer/util", "analyzer/sampler", "analyzer/cpu_profile"],
    "analyzer/pipeline": ["analyzer/util", "analyzer/sampler", "analyzer/cpu_profile", "analyzer/launcher"],
    "analyzer/cmd": ["analyzer/util", "analyzer/source", "analyzer/decode", "analyzer/merge", "analyzer/model",
                     "analyzer/analysis", "analyzer/rules", "analyzer/report", "analyzer/export", "analyzer/sampler",
                     "analyzer/cpu_profile", "analyzer/launcher", "analyzer/pipeline"],
    "analyzer": ["analyzer/cmd", "analyzer/util"],
}

# header: files that may include it
THIRD_PARTY = {
    r"zstd(_errors)?\.h": r"preload/core/(private|rollover)\.[ch]|analyzer/source/\w+\.[ch]",
    r"zlib\.h": r"analyzer/(util|export)/\w+\.[ch]",
    r"elfutils/.*|dwarf\.h|libelf\.h|gelf\.h": r"analyzer/model/(symbol\w*|elf_image|debuginfod)\.[ch]|analyzer/cpu_profile/cfi\w*\.[ch]",
    r"(cjson/)?cJSON\.h": r"analyzer/(report|cmd|launcher|pipeline|util)/\w+\.[ch]|analyzer/model/run_info\.c",
    r"unwind\.h": r"preload/core/(stack|frame_check)\.[ch]",
    r"dlfcn\.h": r"preload/core/(real|module|init|injection)\.c|preload/hooks/heap\.c|preload/cuda/(runtime|cupti\w*)\.c|analyzer/launcher/\w+\.c|analyzer/sampler/gpu_\w+\.c|analyzer/model/(demangle|debuginfod)\.c",
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


def resolve(root, path, name):
    """Where a quoted include lies, relative to the root; None for what is not ours."""
    top = path.split("/")[0]
    for base in (os.path.dirname(path), "include", top):
        candidate = os.path.normpath(os.path.join(base, name))
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def check_file(root, path, problems):
    here = folder_of(path)
    allowed = {here, "include/proftrace", *MAY_INCLUDE.get(here, [])}
    if not here:
        problems.append(f"{path}: its folder is not in the table of scripts/check_layers.py")
        return
    for line, name, quoted in includes(csource.read(root, path)):
        target = resolve(root, path, name) if quoted or name.startswith("proftrace/") else None
        if target and folder_of(target) not in allowed and (path, target) not in EXCEPTIONS:
            problems.append(f"{path}:{line}: {here} must not include {target}")
        for header, files in THIRD_PARTY.items():
            if not target and re.fullmatch(header, name) and not re.fullmatch(files, path):
                problems.append(f"{path}:{line}: <{name}> belongs into {files}")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(HERE)
    problems = []
    paths = csource.own_files(root, ["include", "preload", "analyzer"], (".c", ".h", ".def"))
    for path in paths:
        check_file(root, path, problems)
    for problem in problems:
        print(problem)
    print(f"{len(paths)} files, {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
