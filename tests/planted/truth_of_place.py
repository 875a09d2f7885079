# SPDX-License-Identifier: MIT
"""Where the cause of a planted pipeline stands, as its program says itself: the lines with the comment `# planted here`; and how far the
place of a finding is from there. Only Python's places are judged.

What computes in the programs is `compute` of a module that they share: of a line that calls it, or gives it to a process, that is right, too."""
import ast
import dataclasses
import os

MARK = "# planted here"
COMPUTES = {"planted.py", "truth.py"}  # file name of the module that the programs share
LINE, FUNCTION, UNKNOWN, WRONG = KINDS = ("line", "function", "unknown", "wrong")


@dataclasses.dataclass(frozen=True)
class Spot:
    file: str
    function: str
    line: int
    calls_compute: bool


class Functions(ast.NodeVisitor):
    """The innermost function of each line."""

    def __init__(self):
        self.names, self.of_line = [], {}

    def scope(self, node):
        self.names.append(node.name)
        if not isinstance(node, ast.ClassDef):
            self.of_line.update((line, ".".join(self.names)) for line in range(node.lineno, node.end_lineno + 1))
        self.generic_visit(node)
        self.names.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = scope


def spots_of(paths):
    """Of programs, by their path; those in other languages have none."""
    spots = []
    for path in paths:
        if not path.endswith(".py"):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        functions = Functions()
        functions.visit(ast.parse(text))
        spots += [Spot(os.path.basename(path), functions.of_line.get(n, "<module>"), n, "compute" in line)
                  for n, line in enumerate(text.splitlines(), 1) if MARK in line]
    return spots


def plain(function):
    """Comprehensions, lambdas and functions in a function are that function's."""
    return function.split(".<")[0]


def verdict(spots, place):
    """How well the place of a finding in report.json names one of the spots."""
    if not place.get("function") or place.get("language") != "python":
        return UNKNOWN
    file, function, line = os.path.basename(place["file"]), place["function"], place["line"]
    if any(s.file == file and s.line == line for s in spots):
        return LINE
    if any(s.file == file and plain(s.function) == plain(function) for s in spots):
        return FUNCTION
    if any(s.calls_compute for s in spots) and file in COMPUTES and function == "compute":
        return FUNCTION
    return WRONG


def told(place):
    return f"{os.path.basename(place['file'])}:{place['line']} {place['function']}" if place.get("file") else \
        place.get("function") or place.get("function_reason") or "nothing"


def holds(verdicts):
    """What the suites ask of pairs of verdict and confidence."""
    named = sum(v in (LINE, FUNCTION) for v, _ in verdicts)
    return named >= 0.95 * len(verdicts) and (WRONG, "high") not in verdicts
