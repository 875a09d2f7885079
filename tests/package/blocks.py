# SPDX-License-Identifier: MIT
"""The code examples of the five documents, in documents/: word for word, by the headings above them."""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent / "documents"


def blocks(document, language):
    """Heading: text, of all examples in that language."""
    found, heading = {}, ""
    text = (HERE / f"{document}.txt").read_text(encoding="utf-8")
    for title, kind, body in re.findall(r"(?ms)^## ([^\n]*)$|^```(\w+)\n(.*?)^```$", text):
        heading = title or heading
        if kind == language:
            assert heading not in found, heading
            found[heading] = body
    return found
