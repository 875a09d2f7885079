#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""preload/often.txt is what the linker made of it, and not too old: what processes run when they start and fork lies
together, because each 64 KiB that it lies apart is a page fault in each of them.

usage: check_often.py SOURCE BUILD"""
import os
import re
import subprocess
import sys

SOURCE, BUILD = sys.argv[1:]
MOST_APART_BYTES = {"t": 192 << 10, "b": 8 << 10}
LEAST_KNOWN = 0.8  # clang names what is inlined and what is static in a function otherwise


def symbols():
    """(kind, address, name without what the compiler appends) of the library's functions and variables."""
    told = subprocess.run(["nm", f"{BUILD}/libproftrace.so"], check=True, capture_output=True, text=True).stdout
    return [(kind.lower(), int(address, 16), name.split(".")[0]) for address, kind, name in re.findall(r"^(\w+) ([tTb]) (\S+)$", told, re.MULTILINE)
            if ".cold" not in name and int(address, 16) > 4096]  # below that: what each thread has of its own


def main():
    if not os.path.exists(f"{BUILD}/preload/link.ld"):
        print("another linker than GNU's, or the build for all machines: no order")
        return 77
    with open(f"{SOURCE}/preload/often.txt") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    problems = []
    for kind, letter in (("text", "t"), ("bss", "b")):
        listed = {name for of, name in rows if of == kind}
        there = [(address, name) for of, address, name in symbols() if of == letter and name in listed]
        known = {name for _, name in there}
        apart = max(there)[0] - min(there)[0] if there else 0
        print(f"{kind}: {len(known)} of {len(listed)} names are in the library, {apart} bytes apart")
        if len(known) < LEAST_KNOWN * len(listed):
            problems.append(f"{len(listed - known)} names of {kind} are gone, as {sorted(listed - known)[:3]}: run scripts/gen_often.py")
        if apart > MOST_APART_BYTES[letter]:
            problems.append(f"{kind} is spread over {apart} bytes: the linker's script has other words than CMakeLists.txt looks for")
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
