#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every header compiles alone, so that no file depends on the order of its includes. The public header also as strict C11 and
as C++, by both compilers where they are installed.   usage: check_headers.py SOURCE BUILD"""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys

ROOT = os.path.abspath(sys.argv[1])


def cflags():
    found = subprocess.run(["pkg-config", "--cflags", "libzstd", "zlib", "libdw", "libelf", "libcjson"],
                           capture_output=True, text=True, check=False)
    return found.stdout.split()


def compile_alone(job):
    compiler, language, standard, header, extra = job
    # As an include of an empty file: what is said about main files alone (unused constants) does not count.
    command = [compiler, f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
               "-I", f"{ROOT}/include", *extra, "-include", header, "-x", language, "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"{os.path.relpath(header, ROOT)} ({compiler} -std={standard}):\n{done.stderr[:1500]}"


def jobs():
    compilers = [c for c in ("gcc", "clang") if shutil.which(c)]
    inside = ["-D_GNU_SOURCE", '-DPROFTRACE_VERSION="0.0.0"', *cflags()]
    for half in ("preload", "analyzer"):
        for header in sorted(glob.glob(f"{ROOT}/{half}/**/*.h", recursive=True)):
            yield "gcc", "c", "gnu11", header, [*inside, "-I", f"{ROOT}/{half}"]
    for compiler in compilers:
        for header in sorted(glob.glob(f"{ROOT}/include/proftrace/*.h")):
            yield compiler, "c", "gnu11", header, inside
        public = f"{ROOT}/include/proftrace/proftrace.h"
        yield compiler, "c", "c11", public, ["-pedantic-errors"]
        for standard in ("c++11", "c++20"):
            if shutil.which(compiler.replace("gcc", "g++").replace("clang", "clang++")):
                yield compiler, "c++", standard, public, ["-pedantic-errors"]


def main():
    todo = list(jobs())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [f for f in pool.map(compile_alone, todo) if f]
    print("\n".join(failures + [f"{len(todo)} compilations, {len(failures)} failed"]))
    return 1 if failures else 0


sys.exit(main())
