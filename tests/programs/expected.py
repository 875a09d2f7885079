# SPDX-License-Identifier: MIT
"""What runs without the library have in common, and how a run with it differs from that.

Programs print process numbers and times. What already differs between two runs without the library is left out, and nothing else: each
field is compared at the most exact level at which those are equal."""
import re

FIELDS = ("status", "out", "err", "files", "left")
NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")


def masked(lines):
    return [NUMBER.sub("#", line) for line in lines]


LEVELS = {
    "exact": lambda lines: lines,
    "in any order": sorted,
    "numbers apart": masked,
    "numbers and order apart": lambda lines: sorted(masked(lines)),
    "a set of lines, numbers apart": lambda lines: sorted(set(masked(lines))),
}


def without_content(lines):
    return [line.rsplit("\t", 1)[0] for line in lines]


def file_levels(runs):
    """Contents count but of the files in which they already differ."""
    contents = [dict(line.rsplit("\t", 1) for line in run.files) for run in runs]
    varying = {name for name in contents[0] if len({each.get(name) for each in contents}) > 1}
    return {
        "exact": lambda lines: lines,
        "content of some apart": lambda lines: [line if line.rsplit("\t", 1)[0] not in varying else line.rsplit("\t", 1)[0] for line in lines],
        "names without numbers": lambda lines: sorted(set(masked(without_content(lines)))),
    }


class Expected:
    """Made of at least two runs without the library; `more` adds one."""

    def __init__(self, runs):
        self.runs = list(runs)
        self.find_levels()

    def more(self, run):
        self.runs.append(run)
        self.find_levels()

    def find_levels(self):
        self.levels = {}
        for field in FIELDS:
            levels = file_levels(self.runs) if field == "files" else LEVELS
            equal = [name for name, look in levels.items() if len({tuple(look(getattr(run, field))) for run in self.runs}) == 1]
            self.levels[field] = (equal[0], levels[equal[0]]) if equal else None

    def unrepeatable(self):
        """Fields in which runs without the library are different at every level."""
        return [field for field, level in self.levels.items() if not level]

    def rough(self):
        return {field: level[0] for field, level in self.levels.items() if level and level[0] != "exact"}

    def difference(self, seen, but=()):
        """What a run has and lacks, as text; empty where there is nothing."""
        told = []
        for field in FIELDS:
            if field in but or not self.levels[field]:
                continue
            name, look = self.levels[field]
            ours, theirs = look(getattr(self.runs[0], field)), look(getattr(seen, field))
            if ours != theirs:
                lines = [f"  - {line}" for line in ours if line not in set(theirs)][:8] + [f"  + {line}" for line in theirs if line not in set(ours)][:8]
                told.append(f"{field} ({name}):\n" + "\n".join(lines or ["  in another order"]))
        return "\n".join(told)
