#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every name under which libc offers a function that we hook must be hooked too, or stand in alias_allow.txt with the reason.
usage: check_aliases.py SOURCE BUILD

A forgotten alias is a silent hole: fortified programs call __read_chk, large-file programs open64, and their reads would be
missing from every report. Two exports are aliases when they lie at one address or when their names differ only by what libc
adds to make variants (__, _IO_, __isoc99_, _chk, _2, 64, v2, _unlocked, w for wide characters, the __xstat generation). So is what
makes a traced system call itself, whatever it is called (direct_calls.py finds posix_openpt this way).
"""
import collections
import os
import re
import subprocess
import sys

import direct_calls

ROOT, BUILD = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LIBRARY = f"{BUILD}/libproftrace.so"
ALLOWED = f"{ROOT}/tests/consistency/alias_allow.txt"

WITNESSES = ("open", "read", "write", "pread64", "fstat", "lseek", "posix_openpt") # make a system call, as everybody knows

Export = collections.namedtuple("Export", "name version default address")


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def libc_path():
    return re.search(r"libc\.so\.6 => (\S+)", tool("ldd", "/bin/true")).group(1)


def libc_exports(path):
    """Functions that a program can link to or could link to once: GLIBC_PRIVATE is libc's own business."""
    exports = []
    for line in tool("readelf", "-W", "--dyn-syms", path).splitlines():
        field = line.split()
        if len(field) < 8 or field[3] not in ("FUNC", "IFUNC") or field[6] == "UND":
            continue
        name, _, version = field[7].partition("@")
        if "GLIBC_PRIVATE" not in version:
            exports.append(Export(name, version.lstrip("@"), version.startswith("@"), int(field[1], 16)))
    return exports


def stem(name):
    """The name without what makes a variant of it."""
    name = re.sub(r"^__([lf]?)xstat", r"\1stat", name)
    name = re.sub(r"^__xmknod", "mknod", name)
    name = re.sub(r"^(_IO_|__isoc99_|__isoc23_|__libc_)", "", name).lstrip("_")
    name = re.sub(r"(_chk|_2)$", "", name)
    name = re.sub(r"_unlocked$", "", name)
    name = re.sub(r"64(v2|_r)?$", r"\1", name)
    name = re.sub(r"(preadv|pwritev)(64)?v?2?$", r"\1", name)
    name = re.sub(r"^(v?f?)w(printf|scanf)$", r"\1\2", name)
    name = re.sub(r"((?:get|put)(?=wc|ws))w(c|s|char)$", r"\1\2", name)
    return name


def read_allowed():
    """Lines "name: reason"; "name@versions: reason" for a name whose versions are different functions."""
    allowed, problems = {}, []
    with open(ALLOWED, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            names, _, reason = line.partition(":")
            if not reason.strip():
                problems.append(f"alias_allow.txt:{number}: no reason given")
            for name in names.split():
                allowed[name] = reason.strip()
    return allowed, problems


def main():
    path = libc_path()
    exports = libc_exports(path)
    names = {export.name for export in exports}
    bound = {line.split()[-1] for line in tool("nm", "-D", "--defined-only", LIBRARY).splitlines()}
    hooked = {name.split("@")[0] for name in bound} & names
    allowed, problems = read_allowed()
    used = set()

    same_address, same_stem = collections.defaultdict(set), collections.defaultdict(set)
    for export in exports:
        same_address[export.address].add(export.name)
        same_stem[stem(export.name)].add(export.name)
    addresses = collections.defaultdict(set)
    for export in exports:
        addresses[export.name].add(export.address)

    aliases = collections.defaultdict(set)
    for name in hooked:
        for address in addresses[name]:
            for other in same_address[address] - {name}:
                aliases[other].add(name)
        for other in same_stem[stem(name)] - {name}:
            aliases[other].add(name)
    direct = direct_calls.direct_callers(path, addresses)
    blind = sorted(name for name in WITNESSES if name not in direct)
    if blind:
        problems.append(f"no system call was found in {', '.join(blind)}: direct_calls.py cannot read this libc's code")
    for name, calls in direct.items():
        aliases[name].update(f"the system call {call}" for call in calls)
    for alias in sorted(aliases):
        if alias in hooked:
            continue
        used.add(alias)
        if alias not in allowed:
            problems.append(f"{alias} is another name of {', '.join(sorted(aliases[alias]))}: hook it, or allow it with a reason")
    for name in sorted(hooked):
        key = f"{name}@versions"
        versions = {export.name + ("@@" if export.default else "@") + export.version for export in exports if export.name == name}
        if len(addresses[name]) > 1 and not versions <= bound:  # bound by version: each goes to its own real function
            used.add(key)
            if key not in allowed:
                problems.append(f"{name} has versions that are different functions: allow {key} with a reason")
    stale = sorted(set(allowed) - used)
    problems += [f"alias_allow.txt: {name} is no longer an unhooked alias" for name in stale]
    print("\n".join(problems))
    print(f"{len(hooked)} functions hooked, {len(used)} aliases allowed")
    return 1 if problems else 0


sys.exit(main())
