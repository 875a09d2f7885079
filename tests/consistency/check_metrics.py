#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Metrics go by name from those who compute them to those who read them: each that is read is set by somebody, and each
that is set is read. A name that is written wrong would be unknown for ever, and its rule silent.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve() / "analyzer"
SETTERS = r"pt_metrics_set|pt_stage_set_number|set"  # the last: of analysis/gpu
READERS = r"pt_metrics_get|pt_metrics_has|pt_stage_number|pt_stage_number_or_0|pt_build_metric|pt_finding_number|pt_finding_number_or_0"
NAME = r"[a-z_0-9]+(?:\.[a-z_0-9]+)+"
# Set for each resource, part and cause by a loop over their table: whoever wants one reads it.
LOOPS = [("run_file/resources.def", r"^RESOURCE\((\w+)", "resource.{}.mean resource.{}.max resource.{}.last"),
         ("facts/time_parts.def", r"^PART\((\w+)", "time.{}_s where.{} queue.stretch.{} cpu.main_in.{}_s cpu.main_preempted_in.{}_s"),
         ("analysis/gpu/gpu_causes.def", r"^CAUSE\((\w+)", "gpu.idle.{}_s")]


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def text_of(path):
    """Without comments and includes; lines stay where they are."""
    text = re.sub(r"/\*.*?\*/", blank, path.read_text(), flags=re.S)
    return re.sub(r"^ *#include.*$", blank, text, flags=re.M)


def literals(text, first=0, last=None):
    """(position, name) of each dotted name in a string."""
    for string in re.compile(r'"((?:[^"\\\n]|\\.)*)"').finditer(text, first, len(text) if last is None else last):
        for name in re.finditer(NAME, string.group(1)):
            yield string.start(1) + name.start(), name.group(0)


def arguments(text, functions):
    """(position, name) of the names that calls of these functions have as an argument."""
    for call in re.finditer(rf"\b(?:{functions})\(", text):
        end = text.find(";", call.end())
        first = next(literals(text, call.end(), end), None)
        if first:
            yield first


def evidence(text):
    """{position: name} of the lists "key:metric key:metric"."""
    lists = re.finditer(rf'"((?:\w+:{NAME} ?)+)"', text)
    return {one.start(1) + at.start(1): at.group(1) for one in lists for at in re.finditer(rf":({NAME})", one.group(1))}


def main():
    was_set, was_read, elsewhere = {}, {}, {}
    for path in sorted([*ROOT.rglob("*.c"), *ROOT.rglob("*.def")]):
        text, where = text_of(path), path.relative_to(ROOT)
        setting = dict(arguments(text, SETTERS))
        reading = dict(arguments(text, READERS))
        reading |= evidence(text)
        if where.name == "rules.def":  # what is compared, and the cost
            reading |= {at: name for at, name in literals(text) if text[at - 1] + text[at + len(name)] == '""'}
        for at, name in literals(text):
            into = was_set if at in setting else was_read if at in reading else elsewhere
            into.setdefault(name, f"analyzer/{where}:{text.count(chr(10), 0, at) + 1}")
    for path, row, names in LOOPS:
        for found in re.finditer(row, (ROOT / path).read_text(), re.M):
            was_set |= {name.format(found.group(1)): "" for name in names.split()}
    views = (ROOT / "profile/views.def").read_text()
    tables = set(re.findall(r'^\w*TABLE\(\w+, "([^"]+)"', views, re.M))
    problems = [f"{where}: {name} is read, and nobody sets it" for name, where in was_read.items()
                if name not in was_set and name not in elsewhere and name not in tables]
    problems += [f"{where}: {name} is set, and nobody reads it" for name, where in was_set.items()
                 if where and name not in was_read and name not in elsewhere]
    print("\n".join(sorted(problems)) or f"{len(was_set)} metrics, each is set and read")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
