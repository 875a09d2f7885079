# SPDX-License-Identifier: MIT
"""CPython's own quick tests give the same verdicts with the library as without, test by test, in every CPython that has them.
usage: cpython_suite.py [MODULE...]"""
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from pythons import LIBRARY, found
from traced import environment

# What the library touches, or could: start, imports, audit hooks, frames, threads, forks, signals, descriptors, allocators, exit.
MODULES = """atexit audit capi cmd_line code contextlib coroutines exceptions faulthandler file_eintr fork1 frame functools gc generators
    import inspect io memoryio mmap multiprocessing_main_handling os pickle posix runpy select signal site subprocess sys
    sys_setprofile sys_settrace sysconfig tempfile threading threading_local traceback tracemalloc types utf8_mode warnings weakref
    zipimport""".split()
# They ask whether the allocator of small objects is CPython's own. With tracemalloc's, or ours, which samples, it is not.
ASK_FOR_THE_ALLOCATOR = {"test_sys.SysModuleTest.test_debugmallocstats", "test_cmd_line.CmdLineTest.test_pythonmalloc"}
PIECE = 12  # modules in one call; it is over in less than its bound


def verdicts(python, modules, folder, **more):
    """{test: passed, failed, or why it was left out}; one process a module, one after another: chance has less to say."""
    results = pathlib.Path(folder, "results.xml")
    results.unlink(missing_ok=True)
    subprocess.run([python.path, "-m", "test", "-j1", "--timeout", "300", "--junit-xml", results, *(f"test_{name}" for name in modules)], cwd=folder,
                   env=environment(**more), stdin=subprocess.DEVNULL, capture_output=True, timeout=1500, check=False)
    if not results.exists():
        return {"all": "no results were written"}
    said = {}
    for case in xml.etree.ElementTree.parse(results).iter("testcase"):
        bad = [child.tag for child in case if child.tag in ("failure", "error")]
        left_out = case.find("skipped")
        said[str(case.get("name")).removeprefix("test.")] = bad[0] if bad else f"left out: {left_out.text}" if left_out is not None else "passed"
    said.pop("None", None)  # subtests have no name; their test is missing where one fails
    return said


def differences(python, modules, folder):
    bare = verdicts(python, modules, folder)
    ours = verdicts(python, modules, folder, LD_PRELOAD=str(LIBRARY), PROFTRACE_DIR=f"{folder}/traces")
    return len(bare), {name: (bare.get(name), ours.get(name)) for name in sorted(set(bare) | set(ours)) if bare.get(name) != ours.get(name)}


def is_chance(python, name, folder):
    """A test that says now this, now that, by itself: each side again, five times."""
    module = name.split(".")[0].removeprefix("test_")
    sides = ({}, {"LD_PRELOAD": str(LIBRARY), "PROFTRACE_DIR": f"{folder}/traces"})
    seen = [{str(verdicts(python, [module], folder, **more).get(name)) for _ in range(5)} for more in sides]
    return bool(seen[0] & seen[1])


def main(modules):
    failed = n_pythons = 0
    for python in found():
        has_tests = subprocess.run([python.path, "-c", "import test.test_gc"], capture_output=True, check=False).returncode == 0
        if not has_tests:
            print(f"{python}: its tests are not installed")
            continue
        n_pythons += 1
        with tempfile.TemporaryDirectory() as folder:
            pieces = [modules[i : i + PIECE] for i in range(0, len(modules), PIECE)]
            results = [differences(python, piece, folder) for piece in pieces]
            different = {name: said for _, part in results for name, said in part.items() if name not in ASK_FOR_THE_ALLOCATOR}
            real = {name: said for name, said in different.items() if not is_chance(python, name, folder)}
        print(f"{python}: {sum(n for n, _ in results)} tests, {len(real)} with another verdict, {len(different) - len(real)} that vary by themselves", flush=True)
        for name, (bare, ours) in real.items():
            print(f"  {name}: {bare}; with the library: {ours}")
        failed += len(real)
    if not n_pythons:
        print("no CPython here has its tests")
        return 77
    return 1 if failed else 0


sys.exit(main(sys.argv[1:] or MODULES))
