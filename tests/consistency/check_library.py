#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The library that every host loads: what it needs, what it exports, how it was linked.   usage: check_library.py SOURCE BUILD"""
import glob
import os
import re
import subprocess
import sys

ROOT, BUILD = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path.insert(0, f"{ROOT}/scripts/lib")
import deftable  # noqa: E402

LIBRARY = f"{BUILD}/libproftrace.so"
MAX_TLS_BYTES = 64
OLDEST_LIBC = (2, 28)
# Of glibc 2.38, which programs that are built there call: the one at hand may be older.
LATER = {"__isoc23_scanf", "__isoc23_fscanf", "__isoc23_vscanf", "__isoc23_vfscanf"}


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def hook_rows():
    """Every row of a hook in the .def tables: each must be exported. HOOK_VERSION with the version: name@old, name@@new."""
    found = set()
    for table in glob.glob(f"{ROOT}/preload/**/*.def", recursive=True):
        for row in deftable.rows(table):
            if row.name in ("HOOK", "HOOK_WAIT", "CUSTOM"):
                found.add(row.args[1])
            elif row.name == "LOCK":
                found.add(row.args[0])
            elif row.name == "HOOK_VERSION":
                found.add("".join((row.args[1], row.args[3], row.args[4])))
    return found


def libc_functions():
    """Whatever we stand before is a name of libc; anything else that is visible has leaked (zstd, the unwinder, our own)."""
    libc = re.search(r"libc\.so\.6 => (\S+)", tool("ldd", "/bin/true")).group(1)
    return {line.split()[-1].split("@")[0] for line in tool("nm", "-D", "--defined-only", libc).splitlines()} | LATER


def public_functions():
    with open(f"{ROOT}/include/proftrace/proftrace.h", encoding="utf-8") as f:
        return set(re.findall(r"\b(proftrace_v1_\w+)\(", f.read()))


def cuda_functions():
    """What the driver and annotated programs look for in us, and the rows of the CUDA tables: names of NVIDIA's libraries."""
    rows = {argument for table in glob.glob(f"{ROOT}/preload/cuda/**/*.def", recursive=True) for row in deftable.rows(table) for argument in row.args
            if re.fullmatch(r"(__)?(cuda|cupti)[A-Z]\w*", argument)}
    twins = {name + twin for name in rows for twin in ("_ptsz", "_ptds")}
    return rows | twins | {"InitializeInjection", "InitializeInjectionNvtx2", "__itt_api_init"}


def untried_calls():
    """System calls of ours that the trial of an inherited filter leaves out: one of them may end the host."""
    not_ours = {"seccomp", "kill", "pause", "exit_group"}  # the host's by its number; for tests; not reached; nothing to lose
    made, tried = set(), set()
    for file in glob.glob(f"{ROOT}/preload/**/*.[ch]", recursive=True):
        if os.path.basename(file) == "instead.c":  # the host's, in the place of functions that libc lacks
            continue
        with open(file, encoding="utf-8") as f:
            calls = set(re.findall(r"(?<!\[)\bSYS_(\w+)", f.read()))  # a row of a table is for a call of the host's
        made |= calls
        if os.path.basename(file) == "inherited_filter.c":
            tried = calls
    return sorted(made - tried - not_ours)


def later_versions():
    """Also where all its names are weak: ld.so asks for the version, whoever wants it."""
    needed = tool("readelf", "-W", "--version-info", LIBRARY).partition("Version needs section")[2]
    return sorted(version for version in set(re.findall(r"Name: (GLIBC_[\w.]+)", needed))
                  if not re.fullmatch(r"GLIBC_2[\d.]+", version) or tuple(map(int, version[len("GLIBC_"):].split("."))) > OLDEST_LIBC)


def main():
    problems = [f"core/inherited_filter.c does not try {name}" for name in untried_calls()]
    dynamic = tool("readelf", "-W", "-d", LIBRARY)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    if set(needed) - {"libc.so.6", "ld-linux-x86-64.so.2"}:
        problems.append(f"NEEDED is {needed}: libc alone may be")
    for flag in ("NOW", "NODELETE"):
        if not re.search(rf"\(FLAGS(_1)?\).*\b{flag}\b", dynamic):
            problems.append(f"not linked with -z {flag.lower()}")
    if "(TEXTREL)" in dynamic or "(RPATH)" in dynamic or "(RUNPATH)" in dynamic:
        problems.append("has text relocations or a run path")
    problems += [f"needs {version} of libc: on an older one ld.so would end every program" for version in later_versions()]
    headers = tool("readelf", "-W", "-l", LIBRARY)
    if re.search(r"GNU_STACK.*RWE", headers):
        problems.append("asks for an executable stack")
    frames = re.search(r"\.eh_frame\s+PROGBITS\s+\S+\s+([0-9a-f]+)\s+([0-9a-f]+)", tool("readelf", "-W", "-S", LIBRARY))
    with open(LIBRARY, "rb") as file:
        file.seek(int(frames.group(1), 16) + int(frames.group(2), 16))
        if file.read(4) != bytes(4):  # without gcc's start files, which bring them
            problems.append("no zeros behind .eh_frame: an unwinder that reads it through would not find its end")
    tls = re.search(r"^\s*TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x[0-9a-f]+)", headers, re.M)
    tls_bytes = int(tls.group(1), 16) if tls else 0
    if tls_bytes > MAX_TLS_BYTES:
        problems.append(f"takes {tls_bytes} bytes of static TLS, at most {MAX_TLS_BYTES}")
    if re.search(r"R_X86_64_(DTPMOD|DTPOFF|TLSDESC)", tool("readelf", "-W", "-r", LIBRARY)):
        problems.append("has dynamic TLS: its first use would call malloc")

    # ld lists the hidden bounds of a section as well; nobody can bind to them.
    bound = {m.group(1) for m in re.finditer(r"\b(?:GLOBAL|WEAK)\s+DEFAULT\s+\d+ (\S+)",
                                             tool("readelf", "-W", "--dyn-syms", LIBRARY))}
    exported = {name.split("@")[0] for name in bound}
    public, rows = public_functions(), hook_rows()
    known = libc_functions() | public | cuda_functions()
    problems += [f"exports {name}, which is neither a name of libc or CUDA nor public API" for name in sorted(exported - known)]
    problems += [f"{name} has a row but is not exported" for name in sorted(rows - bound)]
    problems += [f"{name} of proftrace.h is not exported" for name in sorted(public - exported)]
    print("\n".join(problems))
    print(f"{len(exported)} exports, NEEDED {' '.join(needed)}, {tls_bytes} bytes of TLS")
    return 1 if problems else 0


sys.exit(main())
