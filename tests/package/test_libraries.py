#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package with what people use beside it, the real ones from PyPI: magics in IPython, tables and events in pandas and polars. Run by the
interpreter that has them: scripts/test-slow."""
import importlib.util
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PACKAGE = HERE.parent.parent / "preload/python"
sys.path.insert(0, str(PACKAGE))
os.environ["PROFTRACE_COMMAND"] = str(BUILD / "proftrace")
import proftrace  # noqa: E402

PROGRAM = """
import proftrace, os, sys, threading, time
for i in range(200):
    with proftrace.range(f"part {i % 7}"):
        with open(f"{sys.argv[1]}/{i}", "w") as file:
            file.write("x" * i)
    proftrace.counter("loss", i / 3)
    proftrace.step(i)
proftrace.mark("done")
thread = threading.Thread(target=time.sleep, args=(0.05,))
thread.start()
thread.join()
"""


def has(name):
    return unittest.skipUnless(importlib.util.find_spec(name), f"{sys.executable} has no {name}")


def environment(**more):
    base = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
    return {**base, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", **more}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="package-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name


@has("IPython")
class Notebook(Case):
    def play(self, **more):
        done = subprocess.run([sys.executable, HERE / "notebook.py"], capture_output=True, text=True, check=False, timeout=200,
                              env=environment(IPYTHONDIR=f"{self.folder}/ipython", **more))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def check(self, said):
        _, _, statement, total, spend, cell, fails, wrong, division, _, again = said
        self.assertEqual([one["error"] for one in said], [None] * 6 + ["IndexError", "SyntaxError", "ZeroDivisionError", None, None])
        self.assertRegex(statement["out"], r"^statement: 0\.\d{3} s, CPU 0\.\d{3} s\nmemory [+-]\d+\.\d MiB, peak (at least )?\d+\.\d MiB\n")
        self.assertIn(str(sum(range(3000))), total["out"])
        seconds, lines = float(re.match(r"spend: (\d\.\d{3}) s", spend["out"])[1]), re.findall(r"(?m)^ +(\d+) %  \S+:(\d+) <module>", spend["out"])
        self.assertTrue(0.4 <= seconds < 2, spend["out"])
        self.assertLessEqual({int(line) for _, line in lines}, {1, 2, 3, 4})  # as the cell's own text has them
        self.assertGreater(sum(int(share) for share, line in lines if line in "34"), 50, spend["out"])
        self.assertIn("'its last value'", cell["out"])
        self.assertTrue(60 < float(re.search(r"memory \+(\d+\.\d)", cell["out"])[1]) < 70, cell["out"])
        # Each error is shown once, and the time that the cell took stands there all the same.
        for one, name in (fails, "fails: "), (division, "statement: "):
            self.assertEqual(len(re.findall(f"(?m)^{one['error']}: ", one["out"])), 1, one["out"])
            self.assertRegex(one["out"], rf"(?m)^{name}\d")
            self.assertNotIn("notebook.py", one["out"])
        self.assertNotIn("cell: ", wrong["out"])
        self.assertIn("2", again["out"])

    def test_magics(self):
        self.check(self.play())

    def test_magics_traced(self):
        self.check(self.play(LD_PRELOAD=str(BUILD / "libproftrace.so"), PROFTRACE_DIR=f"{self.folder}/data"))
        ranges = {row["name"]: row["calls"] for row in proftrace.open(f"{self.folder}/data/latest").stages[0].table("ranges")}
        self.assertLessEqual({"statement": 3, "spend": 1, "cell": 1, "fails": 1}.items(), ranges.items())

    @has("nbconvert")
    @has("ipykernel")
    def test_a_notebook_that_fails_in_a_measured_cell_has_failed(self):
        for source, code in ("%%proftrace\n1 + 1", 0), ("%%proftrace\n1 / 0", 1):
            cells = [{"cell_type": "code", "id": f"c{i}", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
                     for i, text in enumerate(["%load_ext proftrace", source])]
            path = pathlib.Path(self.folder, "notebook.ipynb")
            path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
            done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--stdout", path], capture_output=True, text=True,
                                  check=False, timeout=200, env=environment(IPYTHONDIR=f"{self.folder}/ipython"))
            self.assertEqual(done.returncode, code, done.stderr[-2000:])
            self.assertIn("ZeroDivisionError" if code else "cell: 0.0", done.stderr + done.stdout)


class Tables(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([BUILD / "proftrace", "run", "--no-report", "-o", f"{cls.folder}/run", "--", sys.executable, "-c", PROGRAM, cls.folder], check=True,
                       capture_output=True, env=environment(), timeout=100)
        cls.run_ = proftrace.open(f"{cls.folder}/run")
        cls.tables = {name: cls.run_.stages[0].table(name) for name in cls.run_.stages[0].tables}
        cls.tables["events"] = list(cls.run_.events())
        cls.tables["late"] = [{"n": i, "late": None} for i in range(150)] + [{"n": 0.5, "late": "text"}, {"n": 1, "more": [1]}]
        cls.tables["none"] = []

    def check(self, convert, rows_of):
        self.assertGreater(len(self.tables), 8)
        for name, rows in self.tables.items():
            with self.subTest(name):
                frame = convert(rows)
                self.assertEqual(set(frame.columns), {key for row in rows for key in row})
                back = rows_of(frame)
                self.assertEqual(len(back), len(rows))
                for row, one in zip(rows, back):
                    for key, value in one.items():
                        said = row.get(key)
                        if said is None:
                            self.assertTrue(value is None or value != value, (key, value))
                        elif isinstance(said, float):
                            self.assertTrue(math.isclose(value, said), (key, value, said))
                        elif isinstance(said, (int, str, bool)):
                            self.assertEqual(value, said, key)

    @has("pandas")
    def test_pandas(self):
        self.check(self.run_.to_pandas, lambda frame: frame.to_dict("records"))
        ranges = self.run_.to_pandas(self.tables["ranges"])
        self.assertEqual(ranges.set_index("name").loc["part 3", "calls"], 29)
        events = self.run_.to_pandas(self.tables["events"])
        self.assertEqual((events["event"] == "counter").sum(), 200)

    @has("polars")
    def test_polars(self):
        import polars
        self.check(self.run_.to_polars, lambda frame: frame.to_dicts())
        ranges = self.run_.to_polars(self.tables["ranges"])
        self.assertEqual(ranges.filter(polars.col("name") == "part 3")["calls"].to_list(), [29])
        events = self.run_.to_polars(self.tables["events"])
        self.assertEqual(events.filter(polars.col("event") == "counter").height, 200)


if __name__ == "__main__":
    unittest.main()
