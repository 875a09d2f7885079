#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loops that use memory as programs do, and keep what they should: none has a finding that says that its memory grows.

  clean_loops.py [NAME...]"""
import json
import pathlib
import subprocess
import sys
import tempfile

import pythons

# What each does over and over, until it has run for SECONDS; `i` counts.
SECONDS = 1.5
LOOPS = {
    "lru_cache_warming": ("""
import functools, random
@functools.lru_cache(maxsize=40_000)
def squares(n):
    return [n] * 100
""", "for _ in range(8000): squares(random.randrange(60_000))"),
    "bounded_log": ("lines = []", """
lines.extend(f'{i}:{k}: nothing happened, as it did not {"." * 200}' for k in range(5000))
if len(lines) > 100_000:
    del lines[:50_000]
"""),
    "fragmentation": ("kept = []", """
objects = [(k, str(k)) for k in range(100_000)]
kept.extend(objects[i % 40::4000])
"""),
    "imports": ("import importlib, pkgutil; names = iter(sorted(m.name for m in pkgutil.iter_modules() if m.name.isalpha() and m.name not in ('this', 'antigravity', 'idlelib', 'turtle')))", """
name = next(names, None)
if name in ('argparse', 'ast', 'asyncio', 'bdb', 'calendar', 'cgi', 'code', 'csv', 'ctypes', 'dataclasses', 'datetime', 'decimal', 'difflib', 'dis', 'doctest',
            'email', 'enum', 'fractions', 'html', 'http', 'inspect', 'json', 'logging', 'multiprocessing', 'pdb', 'pickle', 'platform', 'pydoc', 'random',
            'sqlite3', 'ssl', 'statistics', 'tarfile', 'typing', 'unittest', 'urllib', 'uuid', 'xml', 'zipfile'):
    importlib.import_module(name)
[str(k) for k in range(2000)]
"""),
    "dict_resizing": ("table = {}", """
for k in range(20_000):
    table[i * 20_000 + k] = k
if len(table) >= 400_000:
    table.clear()
"""),
    "generators": ("", "total = sum(len(s) for s in (str(k) for k in (n * n for n in range(60_000))))"),
    "deque_with_maxlen": ("import collections; last = collections.deque(maxlen=100_000)", "last.extend((k, str(k), [k]) for k in range(20_000))"),
    "re_cache": ("import re", "for k in range(40): re.compile('a{%d}(b|c%d)*' % (i % 1000 + 1, k)).match('aaab' * 2000)"),
    "interning": ("import sys", "names = [sys.intern(f'name {i} {k}') for k in range(50_000)]"),
    "columns": ("", """
columns = {name: [k * 0.5 for k in range(30_000)] for name in 'abcdef'}
wide = [dict(zip(columns, row)) for row in zip(*columns.values())]
narrow = {row['a']: row['b'] for row in wide}
"""),
    "json_churn": ("import json", "json.loads(json.dumps([{'id': k, 'text': 'x' * 100, 'list': [k] * 10} for k in range(15_000)]))"),
    "cycles": ("""
class Node:
    def __init__(self, other):
        self.other, self.load = other, [0] * 20
""", """
for _ in range(20_000):
    a = Node(None)
    a.other = Node(a)
"""),
    "weak_cache": ("""
import weakref
class Value:
    def __init__(self, n):
        self.n = [n] * 50
cache = weakref.WeakValueDictionary()
""", """
held = [cache.setdefault(i * 10 + k, Value(k)) for k in range(20_000)]
"""),
    "bounded_heap": ("import heapq; best = []", """
for k in range(30_000):
    heapq.heappush(best, (k * 7919 % 100_003, str(k) * 20))
while len(best) > 60_000:
    heapq.heappop(best)
"""),
    "strings_joined": ("import io", """
text = io.StringIO()
for k in range(60_000):
    text.write(f'{k}, ')
whole = ''.join([text.getvalue(), *map(str, range(50_000))])
"""),
    "exceptions": ("""
def deep(n):
    if n == 0:
        raise ValueError([0] * 1000)
    deep(n - 1)
last = None
""", """
for _ in range(500):
    try:
        deep(40)
    except ValueError as error:
        last = error
"""),
    "thread_pool": ("import concurrent.futures; pool = concurrent.futures.ThreadPoolExecutor(3)", "results = list(pool.map(lambda k: [k] * 2000, range(1000)))"),
    "asyncio_queue": ("""
import asyncio
async def producer(queue):
    for k in range(5000):
        await queue.put([k] * 100)
    await queue.put(None)
async def both():
    queue = asyncio.Queue(1000)
    task = asyncio.ensure_future(producer(queue))
    while await queue.get():
        pass
    await task
""", "asyncio.new_event_loop().run_until_complete(both()) if i % 5 == 0 else [str(k) for k in range(30_000)]"),
    "words_counted": ("import collections, random; words = collections.Counter()", """
words.update('word%d' % (random.random() ** 3 * 200_000) for _ in range(30_000))
"""),
    "sliding_window": ("window = []", """
window.append(bytearray(1 << 20))
del window[:-40]
for block in window:
    block[::4096] = bytes(256)
"""),
    "deep_copies": ("import copy; tree = {k: {'a': [k] * 5, 'b': (k, str(k))} for k in range(4000)}", "again = copy.deepcopy(tree)"),
    "table_filled_once": ("table = {k: (k, str(k), [k]) for k in range(300_000)}", "sum(len(row) for row in table.values())"),
    "result_of_each_pass_replaced": ("state = {}", "state = {k: (state.get(k, (0,))[0] + 1, str(k)) for k in range(100_000)}"),
    "pickled": ("import pickle", "pickle.loads(pickle.dumps([(k, str(k), {'k': k}) for k in range(40_000)]))"),
}
PROGRAM = """\
import time
{before}
def step(i):
{globals}
{step}
end = time.monotonic() + {seconds}
i = 0
while time.monotonic() < end:
    step(i)
    i += 1
"""


def program(name):
    before, step = LOOPS[name]
    shared = "    global last, state\n" if name in ("exceptions", "result_of_each_pass_replaced") else ""
    return PROGRAM.format(before=before.strip(), globals=shared, step="\n".join("    " + line for line in step.strip().splitlines()), seconds=SECONDS)


def findings(python, text, **environment):
    return report(python, text, **environment)["findings"]


def report(python, text, **environment):
    """What `proftrace run` says of a program."""
    with tempfile.TemporaryDirectory(prefix="python-memory-") as folder:
        path = pathlib.Path(folder, "program.py")
        path.write_text(text, encoding="utf-8")
        command = [pythons.BUILD / "proftrace", "run", "-o", f"{folder}/run", python, path]
        done = subprocess.run(command, env=pythons.clean_environment(**environment), capture_output=True, text=True, timeout=180, check=False)
        if done.returncode:
            raise RuntimeError(f"{path} ends with {done.returncode}: {done.stderr[-2000:]}")
        return json.loads(pathlib.Path(folder, "run/report.json").read_text(encoding="utf-8"))


def output(python, text, traced, *arguments, **environment):
    """(exit code, what it prints)"""
    with tempfile.TemporaryDirectory(prefix="python-memory-") as folder:
        path = pathlib.Path(folder)
        (path / "program.py").write_text(text, encoding="utf-8")
        often = {"PROFTRACE_HEAP_SAMPLE_BYTES": "4096"}
        done = pythons.run([python, *arguments, str(path / "program.py")], path, traced, environment=often | environment)
        return done.status, done.out, done.err.replace(folder, "")


def main(names):
    wrong = 0
    for name in names or LOOPS:
        grows = [f for f in findings(pythons.found()[-1].path, program(name)) if f["rule"] == "heap_growth"]
        wrong += bool(grows)
        print("FAIL" if grows else "ok  ", name, *[f"{f['title']}: {json.dumps(f['evidence'])[:1500]}" for f in grows], flush=True)
    print(f"{len(names or LOOPS) - wrong} clean, {wrong} said to grow")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
