#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The links of our pages point to files that exist, and to headings that their page has; and what a page names in back-ticks as a
path of this tree, a script or a recipe of the justfile is there.   usage: check_links.py SOURCE BUILD"""
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
# A path from the root of the tree or of a half, with a suffix of ours: `analyzer/rules/rules.def`, `hooks/hook.h`.
PATH = re.compile(r"`((?:\w[\w.-]*/)+[\w.-]+\.(?:c|h|def|md|py|svg|json|cmake|txt|scd))`")
BASES = ("", "include", "preload", "analyzer")
# Decisions tell what was so when they were taken.
HISTORY = ("docs/decisions/", "CHANGELOG.md")


def tracked():
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if os.path.isfile(os.path.join(ROOT, path))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def prose(text):
    """Without blocks of code, in which brackets are no links."""
    return re.sub(r"(?ms)^( *)```.*?^\1```", "", text)


def anchors(text):
    """The headings as GitHub links to them."""
    words = [re.sub(r"[`*]", "", heading).lower() for heading in re.findall(r"(?m)^#+ (.*)$", prose(text))]
    return {re.sub(r"[^\w\- ]", "", word).replace(" ", "-") for word in words}


def link_problems(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "``", prose(text))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        full = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(ROOT, full)):
            yield f"{page}: there is no {target}"
        elif anchor and full.endswith(".md") and anchor not in anchors(read(full)):
            yield f"{page}: {full} has no heading #{anchor}"


def path_problems(page, text, files):
    if page.startswith(HISTORY):
        return
    # Files that the page says how to make: its blocks of code bear their names, and their manual pages begin with them.
    made = set(re.findall(r"(?m)^ *```\w+ (\S+)", text))
    made |= {f"docs/man/proftrace-{os.path.basename(path)[:-2]}.1.scd" for path in made if path.startswith("analyzer/cmd/")}
    folders = {folder for path in files for folder in (path.split("/")[0], "/".join(path.split("/")[:2]))}
    for name in PATH.findall(prose(text)):
        of_tree = any("/".join(filter(None, (base, name.split("/")[0]))) in folders for base in BASES)
        if of_tree and not any(os.path.join(base, name) in files | made for base in BASES):
            yield f"{page}: there is no file {name}"


def command_problems(page, text, files, recipes):
    """`scripts/dev docs` and `just docs`, in prose and in blocks."""
    for name in sorted(set(re.findall(r"(?<![\w/-])scripts/[\w/.-]*\w", text))):
        if name not in files and not os.path.isdir(os.path.join(ROOT, name)):
            yield f"{page}: there is no {name}"
    for name in sorted(set(re.findall(r"`just ([\w-]+)", text)) - recipes):
        yield f"{page}: the justfile has no recipe {name}"


def main():
    recipes = set(re.findall(r"(?m)^([\w-]+)[^:=\n]*(?:=\"[^\"]*\")?:", read("justfile")))
    files = set(tracked())
    pages = sorted(path for path in files if path.endswith(".md") and not path.startswith("tests/golden/"))
    problems = list(command_problems("justfile", read("justfile"), files, recipes))
    for page in pages:
        text = read(page)
        problems += [*link_problems(page, text), *path_problems(page, text, files), *command_problems(page, text, files, recipes)]
    print("\n".join(problems) or f"{len(pages)} pages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
