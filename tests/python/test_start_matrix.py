#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""However a program starts Python, it prints and ends as without the library, and the library has seen the interpreter."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
import zipfile

import pythons

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import machine  # noqa: E402

# Every Python process of the program must be seen; at least so many there are.
SCRIPT = """\
import sys
print(sys.argv[1:], __name__, [type(f) for f in sys.meta_path if f.__class__.__name__ == "?"])
sys.exit(3)
"""
EXTENSIONS = """\
import array, ctypes, hashlib, json, math, select, socket, struct, zlib
print(hashlib.sha256(b"x").hexdigest(), json.dumps({"a": [1, 2.5]}), math.pi, zlib.crc32(b"y"))
"""
CHILD = """\
import subprocess, sys
print(subprocess.run([sys.executable, "-c", "print('child'); raise SystemExit(5)"], stdout=subprocess.PIPE))
"""
POOL = """\
import multiprocessing
def square(x):
    return x * x
if __name__ == "__main__":
    pool = multiprocessing.get_context({method!r}).Pool(2)
    print(pool.map(square, range(5)))
    pool.close()  # leaving a `with` would kill a worker that may not have started yet
    pool.join()
"""
SUBINTERPRETER = """\
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
import sys
def run(code):
    one = interpreters.create()
    try:
        interpreters.run_string(one, code)
    finally:
        interpreters.destroy(one)
print("before"); sys.stdout.flush()
run("import sys; print('inside', len(sys.meta_path)); sys.stdout.flush()")
print("after")
"""
FORK = """\
import os, sys, time
child = os.fork()
if not child:
    time.sleep(0.002)
    os._exit(7)
print("child ended with", os.waitpid(child, 0)[1] >> 8)
raise ValueError("the end")
"""
AUDITED = """\
import sys
seen = []
sys.addaudithook(lambda event, arguments: seen.append(event))
eval("1")
print([event for event in seen if event.startswith("compile") or event == "exec"])
"""


def file(text, *options):
    return lambda python, folder: [python.path, *options, write(folder / "program.py", text)]


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def module(python, folder):
    write(folder / "module.py", SCRIPT)
    return [python.path, "-m", "module", "one"]


def zipped(python, folder):
    with zipfile.ZipFile(folder / "program.zip", "w") as archive:
        archive.writestr("__main__.py", SCRIPT)
    return [python.path, str(folder / "program.zip")]


# name: (command, Python processes at least, stdin)
WAYS = {
    "-c": (lambda python, folder: [python.path, "-c", "print(1)"], 1, None),
    "-I -S -E -B": (lambda python, folder: [python.path, "-I", "-S", "-E", "-B", "-c", "print(2)"], 1, None),
    "script": (file(SCRIPT), 1, None),
    "stdin": (lambda python, folder: [python.path], 1, SCRIPT),
    "-m": (module, 1, None),
    "zipapp": (zipped, 1, None),
    "extensions": (file(EXTENSIONS), 1, None),
    "subprocess": (file(CHILD), 2, None),
    "mp fork": (file(POOL.format(method="fork")), 3, None),
    "mp spawn": (file(POOL.format(method="spawn")), 3, None),
    "mp forkserver": (file(POOL.format(method="forkserver")), 4, None),
    "subinterpreter": (file(SUBINTERPRETER), 1, None),
    "os.fork": (file(FORK), 2, None),
    "audit hook": (file(AUDITED), 1, None),
    "-X importtime": (file("import json", "-X", "importtime"), 1, None),
    "-v": (file("import json", "-v"), 1, None),
    "warnings are errors": (file(EXTENSIONS, "-W", "error"), 1, None),
}


def outcome(done):
    """Addresses, process ids and times differ from run to run; so does the order in which -v tells what goes at the end."""
    texts = [re.sub(r"[ \d]+", " N ", re.sub("0x[0-9a-f]+", "0", text)) for text in (done.out, done.err)]
    return done.status, texts[0], sorted(texts[1].splitlines())


class StartMatrix(unittest.TestCase):
    maxDiff = None

    def one(self, python, way, mode):
        command, least, stdin = WAYS[way]
        folder = pathlib.Path(tempfile.mkdtemp(prefix="python-start-"))
        try:
            command = command(python, folder)
            command[1:1] = ["-X", "dev"] if mode == "-X dev" else []
            environment = {"PYTHONMALLOC": "debug"} if mode == "debug" else {}
            # written by the first of them: a difference
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
            plain = pythons.run(command, folder, False, input=stdin, environment=environment)
            traced = pythons.run(command, folder, True, input=stdin, environment=environment)
            self.assertEqual(outcome(traced), outcome(plain), f"{python} {way} {mode}")
            seen = pythons.processes(folder)
            self.assertGreaterEqual(len(seen), least)
            for process in seen:
                self.assertEqual((process.state, process.version, process.note), ("ready", python.version, ""), f"{python} {way} {process}")
        finally:
            shutil.rmtree(folder)
        return len(seen)

    def test_every_way_on_every_python(self):
        self.assertTrue(pythons.found(), "no CPython 3.8 or later was found")
        with concurrent.futures.ThreadPoolExecutor(machine.cpus()) as pool:
            for python in pythons.found():
                runs = {(way, mode): pool.submit(self.one, python, way, mode) for way in WAYS for mode in ("", "-X dev")}
                runs["script", "debug"] = pool.submit(self.one, python, "script", "debug")
                seen = 0
                for (way, mode), result in runs.items():
                    with self.subTest(python=str(python), way=way, mode=mode):
                        seen += result.result()
                print(f"CPython {python}: {len(runs)} starts, {seen} processes", flush=True)


class Off(unittest.TestCase):
    def test_the_option_leaves_python_alone(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="python-off-"))
        self.addCleanup(shutil.rmtree, folder)
        done = pythons.run([pythons.found()[0].path, "-c", "import time; time.sleep(0.003)"], folder, True, environment={"PROFTRACE_PYTHON": "0"})
        self.assertEqual((done.status, done.err), (0, ""))
        [process] = pythons.processes(folder)
        self.assertEqual(process.state, "off")
        self.assertNotIn("python_place", "\n".join(pythons.dump(folder)))


if __name__ == "__main__":
    unittest.main()
