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


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def promised_exports():
    """The hook rows and the public API: exactly these symbols may be visible."""
    names = set()
    for table in glob.glob(f"{ROOT}/preload/**/*.def", recursive=True):
        for row in deftable.rows(table):
            if row.name.startswith(("HOOK", "CUSTOM", "ALIAS")) and len(row.args) > 1:
                names.add(row.args[1])
    for source in glob.glob(f"{ROOT}/preload/**/*.[ch]", recursive=True):
        with open(source, encoding="utf-8") as f:
            text = deftable.without_comments(f.read())
        names.update(m for m in re.findall(r"PT_EXPORT[^;{}()=]*?(\w+)\s*\(", text))
        names.update(r.args[1] for r in deftable.rows_in_text(re.sub(r"(?m)^\s*#.*(\\\n.*)*$", "", text))
                     if r.name.startswith(("HOOK", "CUSTOM", "ALIAS")) and len(r.args) > 1)
    return names


def main():
    problems = []
    dynamic = tool("readelf", "-W", "-d", LIBRARY)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    if set(needed) - {"libc.so.6", "ld-linux-x86-64.so.2"}:
        problems.append(f"NEEDED is {needed}: libc alone may be")
    for flag in ("NOW", "NODELETE"):
        if not re.search(rf"\(FLAGS(_1)?\).*\b{flag}\b", dynamic):
            problems.append(f"not linked with -z {flag.lower()}")
    if "(TEXTREL)" in dynamic or "(RPATH)" in dynamic or "(RUNPATH)" in dynamic:
        problems.append("has text relocations or a run path")
    headers = tool("readelf", "-W", "-l", LIBRARY)
    if re.search(r"GNU_STACK.*RWE", headers):
        problems.append("asks for an executable stack")
    tls = re.search(r"^\s*TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x[0-9a-f]+)", headers, re.M)
    tls_bytes = int(tls.group(1), 16) if tls else 0
    if tls_bytes > MAX_TLS_BYTES:
        problems.append(f"takes {tls_bytes} bytes of static TLS, at most {MAX_TLS_BYTES}")
    if re.search(r"R_X86_64_(DTPMOD|DTPOFF|TLSDESC)", tool("readelf", "-W", "-r", LIBRARY)):
        problems.append("has dynamic TLS: its first use would call malloc")

    exported = {line.split()[-1].split("@")[0] for line in tool("nm", "-D", "--defined-only", LIBRARY).splitlines()}
    promised = promised_exports()
    problems += [f"exports {name}, which is neither a hook nor public API" for name in sorted(exported - promised)]
    problems += [f"{name} has a row but is not exported" for name in sorted(promised - exported)]
    print("\n".join(problems))
    print(f"{len(exported)} exports, NEEDED {' '.join(needed)}, {tls_bytes} bytes of TLS")
    return 1 if problems else 0


sys.exit(main())
