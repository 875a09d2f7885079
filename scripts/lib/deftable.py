# SPDX-License-Identifier: MIT
"""Read the .def tables (rows of `NAME(argument, ...)`) that the C code reads through the preprocessor.

rows("events.def") -> [Row("EVENT", ["0x02", "heap_malloc", ...], line), ...]; string literals come back unquoted, nested
calls as text (parse them again with rows_in_text).
"""
import re
from typing import List, NamedTuple


class Row(NamedTuple):
    name: str
    args: List[str]
    line: int


def without_comments(text):
    """Comments become blanks (newlines stay), string and character literals are kept."""
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.S)
    blank = lambda m: re.sub(r"[^\n]", " ", m.group()) if m.group()[0] == "/" else m.group()
    return token.sub(blank, text)


def _closing(text, opening):
    """Index of the parenthesis that closes the one at `opening`."""
    depth, i = 0, opening
    while i < len(text):
        if text[i] == '"':
            i = re.compile(r'"(?:\\.|[^"\\])*"').match(text, i).end()
            continue
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
        i += 1
    raise ValueError("unbalanced parenthesis at: " + text[opening - 40:opening + 40])


def _split(text):
    """Arguments at the top level of a list."""
    parts, start, depth, i = [], 0, 0, 0
    while i < len(text):
        if text[i] == '"':
            i = re.compile(r'"(?:\\.|[^"\\])*"').match(text, i).end()
            continue
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[i], 0)
        if text[i] == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
        i += 1
    return parts + [text[start:]]


def _plain(argument):
    """A string literal (or several in a row) without its quotes; anything else trimmed."""
    argument = argument.strip()
    if re.fullmatch(r'(?:"(?:\\.|[^"\\])*"\s*)+', argument):
        body = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', argument))
        return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), body)
    return re.sub(r"\s+", " ", argument)


def rows_in_text(text):
    text = without_comments(text)
    found, at = [], 0
    pattern = re.compile(r"\b([A-Z][A-Z0-9_]*)\s*\(")
    while True:
        m = pattern.search(text, at)
        if not m:
            return found
        end = _closing(text, m.end() - 1)
        args = [_plain(a) for a in _split(text[m.end():end])]
        found.append(Row(m.group(1), args, text.count("\n", 0, m.start()) + 1))
        at = end + 1


def rows(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    # Preprocessor lines of a table (conditional rows) are not rows.
    return rows_in_text(re.sub(r"(?m)^\s*#.*$", "", text))
