#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Circles between files: none but those listed with a reason.

A module is a .c with its .h. It stands on another one whose header it includes, or whose function or variable it uses.
Whoever reads a file of a circle has to read them all; a circle comes from one thing that lies too high (a helper at the
bottom of the conductor) and goes by moving it down.

    check_circles.py [ROOT]       list circles; exit 1 on one that is not in RECURSIONS
    check_circles.py --why        with the names that make each arrow
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import csource  # noqa: E402

# Honest recursions: what they describe is itself recursive. At most four. {modules}: reason
RECURSIONS = {}
MOST_RECURSIONS = 4

TREES = ("include", "preload", "analyzer")


def module_of(path):
    return os.path.splitext(path)[0]


def definitions(texts):
    """(half, name) -> modules that define it for others."""
    found = {}
    for path, text in texts.items():
        if path.endswith(".c"):
            names = [f.name for f in csource.functions(text) if not f.is_static]
            for name in names + list(csource.linked_data(text)):
                found.setdefault((path.split("/")[0], name), set()).add(module_of(path))
    return found


def arrows(texts):
    """module -> {module that it stands on: why}"""
    defined, found = definitions(texts), {}
    for path, text in texts.items():
        here, half = module_of(path), path.split("/")[0]
        to = found.setdefault(here, {})
        blank = csource.blanked(text, keep_strings=True)
        for m in re.finditer(r'^\s*#\s*include\s*"([^"]+)"', blank, re.M):
            target = csource.resolve(texts, path, m.group(1))
            if target and target.endswith(".h") and module_of(target) != here:
                to.setdefault(module_of(target), []).append("#include")
        # A header's declarations name functions of its own .c; only what its inline functions call counts.
        words = csource.global_words(text) if path.endswith(".c") else set().union(*(f.words for f in csource.functions(text)))
        own = {f.name for f in csource.functions(text) if f.is_static}
        for word in sorted(words - own):
            for module in defined.get((half, word), ()):
                if module != here:
                    to.setdefault(module, []).append(word)
    return found


def circles(graph):
    """Strongly connected components of more than one module (Tarjan)."""
    index, low, stack, on_stack, result = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on_stack.add(v)
        for w in graph.get(v, ()):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on_stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            members = set()
            while not members or w != v:
                w = stack.pop()
                on_stack.discard(w)
                members.add(w)
            if len(members) > 1:
                result.append(frozenset(members))

    sys.setrecursionlimit(10000)
    for v in sorted(graph):
        if v not in index:
            visit(v)
    return sorted(result, key=lambda c: (-len(c), sorted(c)))


def show(circle, graph, with_why):
    print(f"circle of {len(circle)}: {' '.join(sorted(circle))}")
    for a in sorted(circle) if with_why else ():
        for b in sorted(set(graph[a]) & circle):
            print(f"    {a} -> {b}: {', '.join(dict.fromkeys(graph[a][b]))[:200]}")


def main(arguments):
    with_why = "--why" in arguments
    rest = [a for a in arguments if a != "--why"]
    root = rest[0] if rest else os.path.dirname(HERE)
    texts = {p: csource.read(root, p) for p in csource.own_files(root, TREES, (".c", ".h"))}
    graph = arrows(texts)
    found = circles(graph)
    unlisted = [c for c in found if c not in RECURSIONS]
    gone = [c for c in RECURSIONS if c not in found]
    for circle in unlisted:
        show(circle, graph, with_why)
    for circle in gone:
        print(f"listed, but no circle any more: {' '.join(sorted(circle))}")
    if len(RECURSIONS) > MOST_RECURSIONS:
        print(f"{len(RECURSIONS)} recursions are listed, at most {MOST_RECURSIONS}")
    print(f"{len(graph)} modules, {len(unlisted)} circles, {len(RECURSIONS)} recursions")
    return 1 if unlisted or gone or len(RECURSIONS) > MOST_RECURSIONS else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
