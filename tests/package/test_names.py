#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every public name has a text with an example that runs, and types that mypy --strict agrees with. PROFTRACE_TEST_TORCH names an interpreter that
has mypy, and what the package can work with."""
import ast
import doctest
import importlib.util
import inspect
import io
import os
import pathlib
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PACKAGE = ROOT / "preload/python"
PYTHON = os.environ.get("PROFTRACE_TEST_TORCH", sys.executable)
sys.path.insert(0, str(PACKAGE))
os.environ["PROFTRACE_COMMAND"] = str(BUILD / "proftrace")
import pipeline_profile.cli  # noqa: E402
import proftrace  # noqa: E402

CALLBACKS = "lightning", "transformers"  # modules of these names are for these packages
NEEDS = {"to_pandas": "pandas", "to_polars": "polars"}
RECORDED = "import proftrace\nwith proftrace.range('read'):\n    open('/etc/hostname').close()\n"


def environment(**more):
    base = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
    return {**base, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", "PROFTRACE_COMMAND": str(BUILD / "proftrace"), **more}


def public_names():
    """Name: object; of classes their methods and properties, too, which are not somebody else's."""
    for name in [*proftrace.__all__, "open", "range"]:
        value = getattr(proftrace, name)
        yield name, value
        for key, member in vars(value).items() if inspect.isclass(value) else ():
            if not key.startswith("_") and (inspect.isroutine(member) or isinstance(member, (property, staticmethod, classmethod))):
                yield f"{name}.{key}", inspect.unwrap(getattr(member, "__func__", getattr(member, "fget", None) or member))
    yield "main", pipeline_profile.cli.main


def record(folder):
    subprocess.run([BUILD / "proftrace", "run", "--no-report", "-o", f"{folder}/run", "--", sys.executable, "-c", RECORDED], check=True, capture_output=True,
                   env=environment(PROFTRACE_STAGE="example"), timeout=100)
    return f"{folder}/run"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="package-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name


class Examples(Case):
    def test_each_public_name_has_one(self):
        without = {name for name, value in public_names() if not doctest.DocTestParser().get_examples(value.__doc__ or "")}
        self.assertEqual(without, set())

    def test_this_test_sees_names(self):
        names = {name for name, _ in public_names()}
        self.assertGreater(len(names), 40)
        self.assertLessEqual({"Profiler.profile", "Stage.tables", "Run.to_pandas", "RequestProfiler.log", "range", "CommandError", "main"}, names)

    def examples(self):
        """The documented tests of all modules: `path` is a recorded run in all of them."""
        globs = {"path": record(self.folder)}
        modules = [importlib.import_module("pipeline_profile.cli")]
        modules += [importlib.import_module(one.name) for one in pkgutil.iter_modules(proftrace.__path__, "proftrace.") if one.name.rpartition(".")[2] not in CALLBACKS]
        for module in modules:
            yield from (test for test in doctest.DocTestFinder().find(module, extraglobs=globs) if test.examples)

    def test_they_run(self):
        before, ran = os.getcwd(), 0
        tests = list(self.examples())
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        for test in tests:
            needs = NEEDS.get(test.name.rpartition(".")[2])
            if needs and not is_installed(needs):
                print(f"skipped: {test.name}: no {needs}")
                continue
            said = io.StringIO()
            result = doctest.DocTestRunner().run(test, out=said.write)
            self.assertEqual(result.failed, 0, f"{test.name}: {said.getvalue()}")
            ran += result.attempted
        self.assertGreater(ran, 60)


    def test_those_of_the_callbacks_run(self):
        """Each is of a package that need not be here, so another interpreter plays them."""
        for library in CALLBACKS:
            if subprocess.run([PYTHON, "-c", f"import {library}"], capture_output=True, check=False).returncode:
                print(f"skipped: {library}: {PYTHON} has none")
                continue
            place = pathlib.Path(self.folder, library)
            place.mkdir()
            play = f"import doctest, sys, proftrace.{library} as it; print(doctest.testmod(it, optionflags=doctest.ELLIPSIS), file=sys.stderr)"
            done = subprocess.run([PYTHON, "-c", play], cwd=place, env=environment(), capture_output=True, text=True, check=False, timeout=300)
            self.assertRegex(done.stderr, r"TestResults\(failed=0, attempted=[5-9]\)", done.stdout)


def is_installed(name):
    return importlib.util.find_spec(name) is not None


class Types(Case):
    def check(self, *options):
        mypy = [PYTHON, "-m", "mypy"]
        if subprocess.run([*mypy, "--version"], capture_output=True, check=False).returncode:
            found = shutil.which("mypy")
            if not found:
                self.skipTest(f"neither {PYTHON} nor PATH has mypy")
            mypy = [found]
        for what in ["-p", "proftrace", "-p", "pipeline_profile"], [HERE / "every_name.py"]:
            done = subprocess.run([*mypy, "--strict", "--cache-dir", f"{self.folder}/cache", *options, *what], cwd=PACKAGE, capture_output=True, text=True,
                                  check=False, env={**environment(), "MYPYPATH": str(PACKAGE)})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_strict(self):
        self.check()

    def test_strict_with_nothing_installed(self):
        self.check("--no-site-packages")

    def test_strict_for_the_oldest_python_that_it_knows(self):
        self.check("--no-site-packages", "--python-version", "3.10")

    def test_the_example_uses_every_name(self):
        tree = ast.parse((HERE / "every_name.py").read_text(encoding="utf-8"))
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        aliases = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        self.assertEqual({name for name, _ in public_names() if name.rpartition(".")[2] not in used | aliases}, set())

    def test_the_example_runs(self):
        path = record(self.folder)
        has_all = not subprocess.run([PYTHON, "-c", "import lightning, transformers"], capture_output=True, check=False).returncode
        for traced, more in ("False", {}), ("True", {"LD_PRELOAD": str(BUILD / "libproftrace.so"), "PROFTRACE_DIR": f"{self.folder}/data"}):
            done = subprocess.run([PYTHON, HERE / "every_name.py", path, *["callbacks"] * has_all], cwd=self.folder, env=environment(**more), capture_output=True,
                                  text=True, check=False, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("no option", done.stderr)  # PROFTRACE_COMMAND is none of them, and ours
            self.assertRegex(done.stdout, rf"(?m)^{traced} 5 average_latency True 3$")
            self.assertRegex(done.stdout, f"(?m)^0 {2 if has_all else 0}$")


if __name__ == "__main__":
    unittest.main()
