#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Stack that a hook takes from its host: at most 256 bytes per function, nothing of unknown size. Hosts run hooks on 16 KiB
thread stacks and on alternate signal stacks of a few hundred spare bytes; a fat frame there kills them.

Reads what gcc's -fstack-usage left beside the objects.   usage: check_stack_use.py SOURCE BUILD"""
import glob
import os
import re
import sys

ROOT, BUILD = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LIMIT_BYTES = 256

# function: why it may take more. Only what runs in the constructor or on the tracer's own stack belongs here.
DEEPER = {
    "real_path": "names us to CUDA: in the constructor",
    "pt_injection_announce": "names us to CUDA: in the constructor",
    "publish_on_private_stack": "as its name says",
    "attach_on_private_stack": "as its name says",
    "capture_on_private_stack": "as its name says",
    "check_frame": "compares the layout once, where the interpreter starts and nearly nothing is on the stack",
    "define_on_private_stack": "as its name says",
    "write_text": "makes the head of a trace: in the constructor, and for a forked child on the private stack",
    "write_names": "likewise",
    "pt_image_live": "likewise",
    "pt_small_file_append": "likewise",
    "pt_session_page_make": "makes the session, in the constructor",
    "pt_session_page_open": "joins the session, in the constructor",
    "open_file": "makes the head of a trace, or joins the session, in the constructor",
    "make_session": "makes the session, in the constructor",
    "read_status": "looks for a seccomp filter, in the constructor",
    "pt_session_refuse_at_start": "counts a process that will not be recorded, in the constructor",
    "hook_execl": "the argument vector, of as many words as the caller passed, as in libc",
    "hook_execlp": "likewise",
    "hook_execle": "likewise",
}


def functions():
    """(file, line, function, bytes, kind) of everything that the library was made of."""
    for listing in sorted(glob.glob(f"{BUILD}/preload/CMakeFiles/*/**/*.su", recursive=True)):
        with open(listing, encoding="utf-8") as f:
            for row in f:
                where, size, kind = row.rstrip("\n").split("\t")
                file, line, _, function = where.split(":", 3)
                yield os.path.relpath(os.path.join(BUILD, file), ROOT), int(line), function, int(size), kind


def main():
    found = [row for row in functions() if os.path.exists(os.path.join(ROOT, row[0]))]
    if not found:
        print("no .su files: this build is not gcc's, whose listing this check reads")
        return 77
    base = lambda name: re.sub(r"\.(isra|constprop|part|cold|lto_priv)\.?\d*", "", name)
    problems = [f"{file}:{line}: {name} takes {size} bytes of stack ({kind}), at most {LIMIT_BYTES}"
                for file, line, name, size, kind in found
                if (size > LIMIT_BYTES or kind.startswith("dynamic") and "bounded" not in kind) and base(name) not in DEEPER]
    hooks = sorted((size, name) for file, _, name, size, _ in found if "/hooks/" in file and base(name) not in DEEPER)
    if not hooks:
        problems.append("no hook was found in what the compiler listed: this check would see nothing")
    print("\n".join(problems))
    print(f"{len(found)} functions; deepest hooks: " + ", ".join(f"{name} {size}" for size, name in hooks[-3:]))
    return 1 if problems else 0


sys.exit(main())
