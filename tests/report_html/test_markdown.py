#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""report.md as GitHub renders it: with hostile names and log lines it has the same elements as with tame ones (words in
back-ticks aside), shows each as it is, and holds nothing that GitHub would link, mention or draw. What one copies from
it - a path, a commit - is what was recorded. The step summary is the same text."""
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from page_case import PROFTRACE, PageCase, run

# Each begins a block, is markup, or is found by GitHub in finished text.
HOSTILE = (
    "=====", "---", "- - -", "***", "+ item", "- item", "* item", "1. item", "12) item", "# heading", "> quote", "    code", "```", "~~~~",
    "| a | b |", "|---|---|", ":-: | :-:", "[x](http://evil.example)", "![x](http://evil.example/i.png)", "[ref]: http://evil", "[^1]: note",
    "[^1]", "- [x] done", "<b>bold</b>", "<http://evil.example>", "<!--", "-->", "</details>", "<script>", "**bold** _it_ ~~gone~~ `code`",
    "&lt;b&gt; &copy; &#60;i&#62; &#x1F600;", "www.evil.example", "see https://evil.example/?q=1 or ftp://evil.example", "a@evil.example",
    "mailto:a@evil.example", "@everyone", "1@.1.w", "fixes #1", "GH-12", "octocat/repo#3", "octocat@1a2b3c4d5e", "commit 1a2b3c4d5e6f",
    ":smile: a:+1:b", "$x^2$ and $$y$$", "ends with \\", "two  ", "a\\|b", "``````", "HTTP://EVIL.EXAMPLE", "WWW.EVIL.EXAMPLE", "1.", "-",
    "+", "=", "*", "_", "~", "\\")
CONTROLS = ("\x1b[31mred\x07", "a\u202egnp.exe", "\u2028\ufeff", "\tcode", "\x85\x9b1m")
FOUND = re.compile(r"(?<!\w)@\w|[\w.+-]@\w|#\d|\bgh-\d|www\.|://|:[a-z+]+:|"
                   r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b", re.IGNORECASE)
GITHUB = ["--unsafe", *(word for name in ("table", "strikethrough", "autolink", "tasklist") for word in ("-e", name))]
AT_ONCE = 10  # the 20 lines of a log's tail and the limit of a report's size hold them all


def render(markdown):
    done = subprocess.run(["cmark-gfm", *GITHUB, "-t", "xml"], input=markdown.encode(), stdout=subprocess.PIPE, check=True, timeout=60)
    return ElementTree.fromstring(re.sub(rb'<!DOCTYPE[^>]*>| xmlns="[^"]*"', b"", done.stdout))


def elements(node, depth=0):
    """What is there but text: one line per element, with the heading's level, the list's kind and our own HTML's tags."""
    if node.tag in ("text", "softbreak", "code"):
        return
    attributes = {key: value for key, value in node.attrib.items() if key not in ("{http://www.w3.org/XML/1998/namespace}space",)}
    tags = re.findall(r"</?\w+|<!--", node.text or "") if node.tag.startswith("html") else ""
    yield f"{' ' * depth}{node.tag} {attributes} {tags}"
    for child in node:
        yield from elements(child, depth + 1)


def texts(node, code="{}"):
    """The text of each block; code is left alone by GitHub."""
    for block in node.iter():
        if block.tag in ("paragraph", "heading", "table_cell"):
            yield "".join(code.format(part.text) if part.tag == "code" else part.text or "" for part in block.iter()
                          if part.tag in ("text", "code"))


@unittest.skipUnless(shutil.which("cmark-gfm"), "no cmark-gfm")
class Markdown(PageCase):
    def markdown(self, name, names):
        done = run(PROFTRACE, "report", self.hostile(name, names), "--format", "md", "--top", "40")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def test_hostile_text_is_text(self):
        for i in range(0, len(HOSTILE + CONTROLS), AT_ONCE):
            names = (HOSTILE + CONTROLS)[i:i + AT_ONCE]
            with self.subTest(names=names):
                markdown = self.markdown(f"hostile{i}", names)
                tame = self.markdown(f"tame{i}", tuple(f"plain {chr(97 + k)}" for k in range(len(names))))
                tree = render(markdown)
                self.assertEqual(list(elements(tree)), list(elements(render(tame))))
                logs = "".join(node.text for node in tree.iter("code_block"))
                for text in texts(tree, code="code"):
                    self.assertIsNone(FOUND.search(text), text)
                together = "\n".join(texts(tree)).replace("\u200b", "")
                for name in filter(HOSTILE.__contains__, names):
                    self.assertIn(name.strip(), together)
                    self.assertIn(name + "\n", logs)
                self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]", markdown))

    def test_what_is_copied_is_what_was_recorded(self):
        """No space of no width in a commit, an address or a path that a reader takes from the page."""
        names = ("/data/1a2b3c4d5e6f/my_file.npy", "1a2b3c4d5e6f7a8b9c0d", "/home/me/a@b#1.py", "out/run_1/model.pt")
        tree = render(self.markdown("copied", names))
        self.assertLessEqual(set(names), {node.text for node in tree.iter("code")})
        self.assertNotIn("\u200b", "".join(texts(tree)))

    def test_no_link_is_in_any_report(self):
        """All of it, the pipeline's own words too."""
        done = run(PROFTRACE, "report", self.pipeline(), "--format", "md")
        kinds = {node.tag for node in render(done.stdout.decode()).iter()}
        self.assertFalse(kinds & {"link", "image", "html_inline", "footnote_reference"}, kinds)

    def test_the_tenth_failure_keeps_its_lines(self):
        """A number of two digits: what belongs to it stands one blank further to the right."""
        record = {"schema_version": "1.0", "start_realtime_ns": 1, "start_monotonic_ns": 0, "duration_ns": 12, "pipeline": {}, "stages": [
            {"stage": f"s{i}", "status": "failed", "reason": "exit 1", "log": f"logs/{i}.log", "command": ["x"]} for i in range(12)]}
        folder = os.path.join(self.root, "many")
        os.makedirs(os.path.join(folder, "logs"))
        for i in range(12):
            with open(os.path.join(folder, "logs", f"{i}.log"), "w", encoding="utf-8") as file:
                file.write("````\n~~~\nlast words\n")
        with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
            json.dump(record, file)
        done = run(PROFTRACE, "report", folder, "--format", "md")
        logs = [node for item in render(done.stdout.decode()).iter("item") for node in item if node.tag == "code_block"]
        self.assertEqual([log.text for log in logs], ["````\n~~~\nlast words\n"] * 12)


if __name__ == "__main__":
    unittest.main()
