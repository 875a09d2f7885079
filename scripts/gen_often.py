#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write preload/often.txt: which functions of the library lie together, because processes run them when they start, fork,
execute and end, and which variables: the small ones, and those of LARGER. It needs valgrind, and a build of gcc's.

A page of code that a process touches first is a fault, and the kernel maps the 64 KiB around it; a page of variables that it
writes to is a fault and a copy. The list may be old without harm: what it does not name lies elsewhere, what is no longer
there is nobody's. tests/consistency/check_often.py says when it has become useless.

    gen_often.py BUILD
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(os.path.dirname(HERE), "preload", "often.txt")
SCRIPT = "x=$(echo 1); (exit 3); /bin/true; seq 3 | xargs -n 1 /bin/true; timeout 5 /bin/true; ls / | cat; echo done"
NOT_BELOW_VALGRIND = "pt_small_file_append"  # valgrind refuses what it does, so it is left at once there
SMALL_BYTES = 64
LARGER = ["changes", "found", "pt_ignored_options", "pt_session_path"]  # variables that a process writes to when it starts
RUNS = 3  # what a process looks at once in some milliseconds is in some of them
HEAD = """# Functions that a process runs when it starts, forks, executes and ends, and small variables, among which are nearly all
# that it writes to then: CMakeLists.txt has each kind linked in one place. Written by scripts/gen_often.py; it may be old without harm.
"""


def symbols_of_ours(build, kinds):
    """Name and size of what was made from preload/. Other parts of the library (zstd, the unwinder) were compiled before,
    without a section for each."""
    objects = glob.glob(f"{build}/preload/CMakeFiles/proftrace_preload.dir/**/*.o", recursive=True)
    listing = subprocess.run(["nm", "--print-size", *objects], check=True, capture_output=True, text=True).stdout
    return {name.split(".")[0]: int(size, 16) for size, name in re.findall(rf"^\w+ (\w+) [{kinds}] (\S+)$", listing, re.MULTILINE)}


def functions_of(path, library):
    """The command and the library's functions of one profile of callgrind, which names files and functions once and numbers
    them."""
    names, objects, inside, found, command = {}, {}, False, set(), ""
    with open(path, errors="replace") as file:
        for line in file:
            if line.startswith("cmd:"):
                command = line.split()[1]
            match = re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?$", line)
            if not match:
                continue
            called, kind, number, name = match.groups()
            table = objects if kind == "ob" else names
            if name:
                table[number] = name
            if called:
                continue
            if kind == "ob":
                inside = os.path.realpath(table[number]) == library
            elif inside:
                found.add(re.split(r"['.]", table[number])[0])
    return command, found


def profiles(library):
    """A part of a process's life each: begun and ended by fork, exec and the end."""
    with tempfile.TemporaryDirectory() as folder:
        before = [f"--dump-before={name}" for name in ("fork", "vfork", "execve*", "posix_spawn*")]
        subprocess.run(["valgrind", "--tool=callgrind", "--trace-children=yes", *before, f"--callgrind-out-file={folder}/out.%p",
                        "/bin/bash", "-c", SCRIPT],
                       env={**os.environ, "LD_PRELOAD": library, "PROFTRACE_DIR": f"{folder}/trace"},
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
        return [(os.path.basename(path), *functions_of(path, library)) for path in sorted(glob.glob(f"{folder}/out.*"))]


def callees(library, function, known=None):
    """All functions that this one may call, by the machine code."""
    known = known if known is not None else {function}
    code = subprocess.run(["objdump", "-d", f"--disassemble={function}", library], check=True, capture_output=True, text=True).stdout
    for name in set(re.findall(r"\b(?:call|jmp) +[0-9a-f]+ <(\w+)[^+>]*>", code)) - known:
        known.add(name)
        callees(library, name, known)
    return known


def order_of(library, parts):
    """What processes run that start, those that are forked, and their parent; what the first two share is in the middle."""
    shell = min((name for name, _, _ in parts), key=lambda name: int(name.split(".")[1])).split(".")[1]
    starts, children, others = set(), set(), set()
    for name, command, functions in parts:
        if command != "/bin/bash":
            starts |= functions
        elif name.split(".")[1] == shell:
            others |= functions
        else:
            children |= functions
    children |= callees(library, NOT_BELOW_VALGRIND)
    starts |= callees(library, NOT_BELOW_VALGRIND)
    return [*sorted(starts - children), *sorted(starts & children), *sorted(children - starts), *sorted(others - starts - children)]


def main():
    build = sys.argv[1]
    library = os.path.realpath(os.path.join(build, "libproftrace.so"))
    functions, variables = symbols_of_ours(build, "tT"), symbols_of_ours(build, "bB")
    orders = [order_of(library, profiles(library)) for _ in range(RUNS)]
    order = max(orders, key=len)
    order += sorted({name for other in orders for name in other} - set(order))
    rows = [f"text {name}\n" for name in order if name in functions]
    rows += [f"bss {name}\n" for name, size in sorted(variables.items()) if size <= SMALL_BYTES or name in LARGER]
    with open(TARGET, "w") as file:
        file.write(HEAD + "".join(rows))
    print(f"{TARGET}: {len(rows)} rows")


if __name__ == "__main__":
    main()
