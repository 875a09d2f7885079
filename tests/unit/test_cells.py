#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cells that characters take in a terminal (analyzer/util/text/cells.def) are those of Unicode, as Python has it.

With --update it writes the table: look at what changed. It takes the package unicodedata2 where it is installed, which knows a newer Unicode than
most Pythons. The comparison leaves out what the Python of the test does not know yet."""
import pathlib
import re
import sys
import unicodedata
import unittest

TABLE = pathlib.Path(__file__).resolve().parents[2] / "analyzer" / "util" / "text" / "cells.def"
HEAD = """/* SPDX-License-Identifier: MIT
 *
 * Which characters take two cells of a terminal, and which none: East Asian Width W and F, and what is drawn over the
 * character before or not at all, in their order. What Unicode has not given out is counted to a range around it.
 * Written by tests/unit/test_cells.py --update, of Unicode {version}. CELLS(first, last, cells) */
"""
FIRST = 0x300  # nothing below it is wide; terminals show the soft hyphen
VISIBLE = {*range(0x600, 0x606), 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x110bd, 0x110cd}  # signs of Arabic and Kaithi around numbers
WIDE_SINCE_16 = {*range(0x2630, 0x2638), *range(0x268a, 0x2690), *range(0x4dc0, 0x4e00), *range(0x1d300, 0x1d357), *range(0x1d360, 0x1d377)}
# Wide before they are given out: for Chinese, and for emoji. By hand, for Pythons say different things of them: 3.11 that all such are wide.
KEPT_WIDE = ((0xfa6e, 0xfa6f), (0xfada, 0xfaff), (0x1fa70, 0x1faff), (0x20000, 0x2fffd), (0x30000, 0x3fffd))
# All of Europe, Hebrew, Arabic, India, South East Asia, Korean, symbols, Chinese, Japanese, emoji.
COMMON = ((0x300, 0x52f), (0x591, 0x5f4), (0x610, 0x6ff), (0x900, 0xe7f), (0x1000, 0x109f), (0x1100, 0x11ff), (0x1780, 0x17ff),
          (0x1e00, 0x27ff), (0x2900, 0x2bff), (0x2e80, 0x9fff), (0xac00, 0xd7a3), (0xf900, 0xfaff), (0xfe00, 0xffee),
          (0x1f000, 0x1f64f), (0x1f680, 0x1f6ff), (0x1f900, 0x1f9ff), (0x20000, 0x2a6df))


def cells_of(code, unicode=unicodedata):
    """None where this Unicode has no character."""
    category = unicode.category(chr(code))
    if category == "Cn" and any(first <= code <= last for first, last in KEPT_WIDE):
        return 2
    if category in ("Cn", "Cs", "Co"):
        return None
    if code in VISIBLE:
        return 1
    if category in ("Mn", "Me", "Cf") or 0x1160 <= code <= 0x11ff or 0xd7b0 <= code <= 0xd7ff:  # Korean vowels and ends join
        return 0
    return 2 if unicode.east_asian_width(chr(code)) in "WF" or code in WIDE_SINCE_16 else 1


def ranges(unicode):
    found, before = [], None
    for code in range(FIRST, 0x110000):
        cells = cells_of(code, unicode)
        if cells is None:
            continue
        if cells != 1 and cells == before:
            found[-1][1] = code
        elif cells != 1:
            found.append([code, code, cells])
        before = cells
    return found


def update():
    try:
        import unicodedata2 as unicode
    except ImportError:
        unicode = unicodedata
    ours, theirs = float(re.search(r"of Unicode (\d+\.\d+)", TABLE.read_text(encoding="ascii")).group(1)), float(unicode.unidata_version.rpartition(".")[0])
    if theirs < ours:
        sys.exit(f"The table is of Unicode {ours}, and this Python knows {theirs}: characters would get lost. Take a newer one, or install unicodedata2.")
    lines, line = [], ""
    for first, last, cells in ranges(unicode):
        word = f"CELLS({first:#x}, {last:#x}, {cells})"
        if len(line) + len(word) > 118:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    TABLE.write_text(HEAD.format(version=unicode.unidata_version) + "\n".join([*lines, line]) + "\n", encoding="ascii")


class Cells(unittest.TestCase):
    def setUp(self):
        self.table = [(int(first, 16), int(last, 16), int(cells)) for first, last, cells in
                      re.findall(r"CELLS\((0x[0-9a-f]+), (0x[0-9a-f]+), (\d)\)", TABLE.read_text(encoding="ascii"))]
        self.assertGreater(len(self.table), 100)

    def test_they_are_in_order(self):
        for (_, before, _), (first, last, _) in zip(self.table, self.table[1:]):
            self.assertLess(before, first)
            self.assertLessEqual(first, last)

    def test_they_are_those_of_unicode(self):
        table = {code: cells for first, last, cells in self.table for code in range(first, last + 1)}
        wrong = [f"U+{code:04X} {unicodedata.name(chr(code), '')}: {table.get(code, 1)}, not {cells_of(code)}"
                 for first, last in COMMON for code in range(first, last + 1)
                 if cells_of(code) is not None and cells_of(code) != table.get(code, 1)]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
