# SPDX-License-Identifier: MIT
"""The pages of docs/howto/ as data: what each says that one touches, and the example, which is the one truth of it.

A block of code that names a file behind its language is a part of the example:

    ```c include/proftrace/units.def               rows for the end of a table, or a whole new file
    ```c include/proftrace/events.def to-show-it   not needed for it to work: it makes it visible
    ```sh                                          commands for the root of the tree
"""
import pathlib
import re
import textwrap
from typing import NamedTuple


class Block(NamedTuple):
    path: str
    text: str
    is_shown: bool  # only there to show it


class Page(NamedTuple):
    name: str
    rows: int  # what the page says that one touches
    files: int
    blocks: list
    commands: list


def read(path):
    text = path.read_text(encoding="utf-8")
    touched = re.search(r"\*\*You touch:\*\* (.*?[^\d]\.(?:\s|$))", text, re.S)
    said = touched.group(1) if touched else ""
    count = lambda what: sum(int(n) for n in re.findall(rf"\b(\d+) {what}s?\b", said))
    blocks, commands = [], []
    for language, name, shown, body in re.findall(r"(?ms)^ *```(\w+)(?: +(\S+?))?(?: +(to-show-it))?\n(.*?)^ *```$", text):
        body = textwrap.dedent(body)
        if name:
            blocks.append(Block(name, body, bool(shown)))
        elif language == "sh":
            commands += body.splitlines()
    return Page(path.stem, count("row"), count("file"), blocks, commands)


def read_all(folder):
    return {page.name: page for page in (read(path) for path in sorted(pathlib.Path(folder).glob("*.md")))}
