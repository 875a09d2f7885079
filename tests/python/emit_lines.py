# SPDX-License-Identifier: MIT
# Under each CPython: code objects of the standard library for lines.c, and what the interpreter says. JSON: [[input, lines] ...]
import dis
import glob
import json
import os
import sys

made = []


def expected(code, offsets):
    if hasattr(code, "co_lines"):
        ranges = [(start, end, line or 0) for start, end, line in code.co_lines()]
        return [next((line for start, end, line in ranges if start <= offset < end), 0) for offset in offsets]
    starts = list(dis.findlinestarts(code))
    return [[line for start, line in starts if start <= offset][-1] if starts and starts[0][0] <= offset else code.co_firstlineno
            for offset in offsets]


def add(code):
    offsets = list(range(0, len(code.co_code), 2))
    table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    made.append(["%d %d %s %s" % (sys.version_info[1], code.co_firstlineno, table.hex() or "-", " ".join(map(str, offsets))),
                 expected(code, offsets)])
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            add(constant)


folder = os.path.dirname(os.__file__)
for path in sorted(glob.glob(folder + "/*.py"))[::6] + sorted(glob.glob(folder + "/asyncio/*.py")):
    with open(path, "rb") as file:
        add(compile(file.read(), path, "exec"))
long = "x = [\n" + "\n" * 300 + "1]\n" + "y = " + "+".join(["x"] * 400) + "\ndef f():\n" + "\n" * 200 + "  return (\n\n1 +\n\n2 + x)\n"
add(compile(long, "long", "exec"))
json.dump(made, sys.stdout)
