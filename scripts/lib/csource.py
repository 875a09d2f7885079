# SPDX-License-Identifier: MIT
"""Just enough C to measure shape and find calls: comments and literals blanked, functions and macros with their lines."""
import os
import re
import subprocess

KEYWORDS = re.compile(r"\b(if|for|while|case)\b|&&|\|\||\?")


def own_files(root, folders, suffixes):
    """Files of ours under `folders`: what git tracks or would add, so that build folders stay out."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "--"] + list(folders),
                            capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted({f for f in listed if f.endswith(tuple(suffixes)) and os.path.isfile(os.path.join(root, f))})


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def blanked(text, keep_strings=False):
    """Comments and literals blanked, lines kept."""
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

    def blank(m):
        if m.group()[0] in "\"'":
            return m.group() if keep_strings else m.group()[0] + " " * (len(m.group()) - 2) + m.group()[0]
        return re.sub(r"[^\n]", " ", m.group())
    return token.sub(blank, text)


def macros(text):
    """(name, line, lines) of each #define."""
    lines, at = blanked(text).split("\n"), 0
    while at < len(lines):
        m = re.match(r"\s*#\s*define\s+(\w+)", lines[at])
        begin = at
        while lines[at].rstrip().endswith("\\") and at + 1 < len(lines):
            at += 1
        if m:
            yield m.group(1), begin + 1, at - begin + 1
        at += 1


def without_preprocessor(text):
    out, continued = [], False
    for line in blanked(text).split("\n"):
        skip = continued or line.lstrip().startswith("#")
        continued = skip and line.rstrip().endswith("\\")
        out.append("" if skip else line)
    return "\n".join(out)


class Function:
    def __init__(self, name, line, body):
        self.name, self.line = name, line
        self.lines = body.count("\n") + 1
        self.complexity = 1 + len(KEYWORDS.findall(body))
        self.gotos = len(re.findall(r"\bgoto\b", body))


def functions(text):
    """Functions with a body at the top level: a '{' that follows a parameter list."""
    text = without_preprocessor(text)
    depth, begin, name = 0, None, None
    for m in re.finditer(r"[{}]", text):
        if m.group() == "{":
            if depth == 0:
                head = re.split(r"[;}]", text[max(0, m.start() - 600):m.start()])[-1].rstrip()
                if head.endswith(")") and "=" not in head.split("(")[0]:
                    begin, name = m.start(), _name_of(head)
            depth += 1
        else:
            depth = max(0, depth - 1)
            if depth == 0 and begin is not None:
                yield Function(name, text.count("\n", 0, begin) + 1, text[begin:m.end()])
                begin = None


def _name_of(head):
    """The identifier before the last parameter list that is not an attribute."""
    head = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head, flags=re.S)
    names = [m.group(1) for m in re.finditer(r"(\w+)\s*\(", head)]
    return names[0] if names else "?"
