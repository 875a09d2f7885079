#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Stack that a hook takes from its host: at most 256 bytes per function, nothing of unknown size. Hosts run hooks on 16 KiB
thread stacks and on alternate signal stacks of a few hundred spare bytes; a fat frame there kills them.

Compiles every file of preload/ as the build does, with -fstack-usage.   usage: check_stack_use.py SOURCE BUILD"""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT, BUILD = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LIMIT_BYTES = 256

# function: why it may take more. Only what runs in the constructor or on the tracer's own stack belongs here.
DEEPER = {
    "publish_on_private_stack": "as its name says",
    "attach_on_private_stack": "as its name says",
    "capture_on_private_stack": "as its name says",
    "write_text": "makes a trace file: in the constructor, and for a forked child on the private stack",
    "map_page": "joins the session, in the constructor",
    "make_session": "makes the session, in the constructor",
    "hook_execl": "the argument vector, of as many words as the caller passed, as in libc",
    "hook_execlp": "likewise",
    "hook_execle": "likewise",
    "pt_redact_command": "called by system and popen, which take kilobytes themselves",
}


def stack_usage(entry):
    """[(file, line, function, bytes, kind)] of one compilation."""
    words = [w for w in shlex.split(entry["command"])]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "x.o")
        words[words.index("-o") + 1] = out
        done = subprocess.run([*words, "-fstack-usage"], cwd=entry["directory"], capture_output=True, text=True, check=False)
        if done.returncode:
            return [(entry["file"], 0, "does not compile", 0, done.stderr[:300])]
        with open(os.path.join(folder, "x.su"), encoding="utf-8") as f:
            rows = [line.rstrip("\n").split("\t") for line in f]
    found = []
    for where, size, kind in rows:
        file, line, _, function = where.split(":", 3)
        found.append((os.path.relpath(os.path.join(entry["directory"], file), ROOT), int(line), function, int(size), kind))
    return found


def main():
    with open(f"{BUILD}/compile_commands.json", encoding="utf-8") as f:
        entries = [e for e in json.load(f) if e["file"].startswith(f"{ROOT}/preload/")]
    if entries and "clang" in re.split(r"\s", entries[0]["command"])[0]:
        print("skipped: clang has no per-function listing; the gcc build checks this")
        return 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        functions = [row for rows in pool.map(stack_usage, entries) for row in rows]
    base = lambda name: re.sub(r"\.(isra|constprop|part|cold|lto_priv)\.?\d*", "", name)
    problems = [f"{file}:{line}: {name} takes {size} bytes of stack ({kind}), at most {LIMIT_BYTES}"
                for file, line, name, size, kind in functions
                if (size > LIMIT_BYTES or kind.startswith("dynamic") and "bounded" not in kind or not line)
                and base(name) not in DEEPER]
    hooks = sorted((size, name) for file, _, name, size, _ in functions if "/hooks/" in file)
    print("\n".join(problems))
    print(f"{len(functions)} functions in {len(entries)} files; deepest hooks: "
          + ", ".join(f"{name} {size}" for size, name in hooks[-3:]))
    return 1 if problems or not entries else 0


sys.exit(main())
