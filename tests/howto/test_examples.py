#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The examples of docs/howto/ work: all are applied to one copy of the tree, which is built, and each shows in every place
that its page promises. What a page says that one touches is what its example touches.

The copy stays in the build folder, so that a second run builds only what changed.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("PROFTRACE_BUILD", "build-gcc")).resolve()
TREE = BUILD / "howto"  # the copy
sys.path[:0] = [str(HERE), str(ROOT / "scripts/lib")]
import deftable  # noqa: E402
import pages  # noqa: E402

PAGES = pages.read_all(ROOT / "docs/howto")
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("PROFTRACE_") and k != "LD_PRELOAD"}
ENVIRONMENT |= {"LC_ALL": "C.UTF-8", "COLUMNS": "200", "TZ": "UTC"}
STORY = ROOT / "tests/golden/synchronous_fsync.pt.txt"
PROCESS = "proftrace-text 1 start_realtime_ns=1705320000000000000\nprocess 7\n"


def run(*argv, rc=0, **options):
    """stdout; fails with all that was said when the exit code is another one. rc=None: any."""
    environment, limit_s = ENVIRONMENT | options.pop("environment", {}), options.pop("limit_s", 120)
    done = subprocess.run([str(a) for a in argv], env=environment, capture_output=True, text=True, timeout=limit_s, **options)
    if rc is not None and done.returncode != rc:
        raise AssertionError(f"{' '.join(map(str, argv))}: exit code {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout if rc == 0 else done.stdout + done.stderr


def listed_files():
    listed = run("git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-co", "--exclude-standard").splitlines()
    return {path for path in listed if (ROOT / path).is_file() and not path.startswith("tests/")}


def wanted_tree():
    """{path: bytes}: the tree with all examples applied."""
    tree = {path: (ROOT / path).read_bytes() for path in listed_files()}
    for page in PAGES.values():
        for block in page.blocks:
            if not block.path.startswith("tests/"):
                tree[block.path] = tree.get(block.path, b"") + block.text.encode()
    return tree


def write_tree(tree):
    """What is the same keeps its time, so that it is not compiled again."""
    kept = ("build", ".git")
    for path in sorted(TREE.rglob("*"), reverse=True):
        relative = path.relative_to(TREE)
        if relative.parts[0] not in kept and path.is_file() and str(relative) not in tree:
            path.unlink()
    for name, content in tree.items():
        path = TREE / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        shutil.copymode(ROOT / name, path) if (ROOT / name).exists() else None


def setUpModule():
    TREE.mkdir(parents=True, exist_ok=True)
    write_tree(wanted_tree())
    run("git", "init", "-q", TREE)
    run(sys.executable, TREE / "scripts/gen_docs.py")
    launcher = [f"-DCMAKE_C_COMPILER_LAUNCHER={shutil.which('ccache')}"] if shutil.which("ccache") else []
    run("cmake", "-S", TREE, "-B", TREE / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DPROFTRACE_TESTS=OFF", *launcher)
    built = run("ninja", "-C", TREE / "build", "-k", "0", rc=None, limit_s=800)
    wrong = re.findall(r"(?m)^.*(?:error|warning): .*$|^FAILED: .*$|^ninja: (?!Entering|no work).*$", built)
    if wrong:
        raise AssertionError("\n".join(wrong[:40]))


def proftrace(*arguments, **options):
    return run(TREE / "build/proftrace", *arguments, **options)


def doc(name):
    return (TREE / "docs" / name).read_text(encoding="utf-8")


class Example(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="howto-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def assembled(self, text):
        (self.folder / "trace.pt.txt").write_text(text, encoding="utf-8")
        proftrace("assemble", self.folder / "trace.pt.txt", "-o", self.folder / "trace.ptr")
        return self.folder / "trace.ptr"

    def traced(self, *command, **environment):
        """The run directory of a command with nothing but the preload."""
        runs = self.folder / f"runs-{len(list(self.folder.iterdir()))}"
        preload = {"LD_PRELOAD": str(TREE / "build/libproftrace.so"), "PROFTRACE_DIR": str(runs)}
        run(*command, environment=preload | environment)
        return runs / "latest"

    def forms(self, trace):
        """{form: text} of the forms of a report that show all."""
        return {"text": proftrace("report", "--full", trace), "stats": proftrace("stats", trace),
                **{form: proftrace("report", "--format", form, trace) for form in ("json", "md", "html")}}

    def test_hook(self):
        functions = re.findall(r"^HOOK\w*\([^,]*, (\w+),.*PT_EV_(\w+)", PAGES["hook"].blocks[0].text, re.M)
        self.assertEqual(len(functions), 1)
        name, event = functions[0]
        self.assertRegex(run("nm", "-D", "--defined-only", TREE / "build/libproftrace.so"), rf" T {name}\n")
        program = f"import ctypes, os; os.close(1); fd = os.openpty()[0]; ctypes.CDLL(None).{name}(fd)"
        dumped = proftrace("dump", self.traced("/usr/bin/python3", "-c", program))
        self.assertRegex(dumped, rf'(?m) {event} fd=\d+ result=0 path="/dev/ptmx"$')
        self.assertIn(f"**`{event}`**", doc("events.md"))
        self.assertNotRegex(run("nm", "-D", "--defined-only", BUILD / "libproftrace.so"), rf" T {name}\n")

    def test_event(self):
        line = '0.100000000 +0.000020000 7/7 io_zero fd=3 result=0 path="/data/x" length_bytes=65536'
        trace = self.assembled(f"{PROCESS}{line}\n")
        self.assertIn(line, proftrace("dump", trace))
        self.assertEqual(json.loads(proftrace("dump", "--json", trace))["length_bytes"], 65536)
        for form, text in self.forms(trace).items():
            self.assertRegex(text, r"\b(io_)?zero\b", form)
        self.assertIn('"cat":"io","name":"zero"', proftrace("export", trace, "--to", "chrome", "-o", "-"))
        self.assertIn("**`io_zero`** (0x36, SPAN)", doc("events.md"))
        without_row = run(BUILD / "proftrace", "info", trace)
        self.assertRegex(without_row, r"Events in the trace +1\n")
        self.assertRegex(without_row, r"this one does not know are left out: .*io_zero")

    def test_unit(self):
        commands = PAGES["unit"].commands
        self.assertEqual(len(commands), 4)
        shown = run("sh", "-ec", "\n".join(f"({c})" for c in commands).replace("build/", f"{TREE}/build/"), cwd=self.folder)
        self.assertIn("map_advise result=0 advice=MADV_DONTNEED length_bytes=65536", shown)
        self.assertRegex(shown, r'"advice": ?4\b')
        self.assertIn("| `ADVICE` | CONSTANT |", doc("events.md"))

    def test_rule(self):
        story = next(b.text for b in PAGES["rule"].blocks if b.is_shown)
        before, after = re.search(r"(?m)^# silent: (.*) => (.*)$", story).groups()
        title = re.search(r'"(The disk .*?)"', PAGES["rule"].blocks[0].text).group(1)
        fired = self.forms(self.assembled(story))
        del fired["stats"]
        for form, text in fired.items():
            self.assertIn(title, text, form)
        self.assertEqual([f["rule"] for f in json.loads(fired["json"])["findings"]], ["slow_sync"])
        silent = proftrace("report", "--format", "json", self.assembled(story.replace(before, after)))
        self.assertEqual(json.loads(silent)["findings"], [])
        self.assertIn(f"### slow_sync\n\n**{title}.**", doc("rules.md"))

    def test_renderer(self):
        shown = proftrace("report", "--format", "headlines", self.assembled(STORY.read_text(encoding="utf-8")))
        self.assertRegex(shown, r"\A.+\n1 The program waits for the disk to confirm its writes \(fsync\)\n\Z")
        self.assertRegex(proftrace("report", "--help"), r"text\|json\|md\|html\|headlines")
        self.assertIn("headlines", proftrace("report", "--format", "headline", rc=2))

    def test_export(self):
        trace = self.assembled(STORY.read_text(encoding="utf-8"))
        rows = proftrace("export", trace, "--to", "tsv", "-o", "-").splitlines()
        spans = [line for line in proftrace("dump", trace).splitlines() if re.match(r"\d+\.\d+ \+", line)]
        self.assertEqual(len(rows), len(spans))
        self.assertIn("510000000\t50000000\t100\t100\tio_sync", rows)
        self.assertIn("tsv", proftrace("export", "--help"))
        self.assertIn("tsv", proftrace("export", trace, "--to", "tvs", rc=2))
        self.assertIn("| `--to tsv` | `calls.tsv` |", doc("commands.md"))
        self.assertIn("_tsv_\n\t", doc("man/proftrace-export.1.scd"))

    def test_option(self):
        name = "PROFTRACE_STACK_DEPTH"
        wrong, ignored = {name: "many"}, f"{name}=many is not a whole number"
        self.assertIn(ignored, proftrace("info", self.traced("/bin/true", **wrong)), "the library reads it")
        self.assertNotIn(name, proftrace("info", self.traced("/bin/true", **{name: "8"})))
        self.assertIn(f"{name}S is no option", proftrace("info", self.traced("/bin/true", **{name + "S": "8"})))
        self.assertIn(f"{name}=many is not", re.sub(r"\s+", " ", proftrace("doctor", environment=wrong, rc=None)))
        said = proftrace("run", "--", "/bin/true", environment=wrong | {"PROFTRACE_DIR": str(self.folder / "runs")}, rc=None)
        self.assertIn(f"{name}=many is not", said)
        self.assertRegex(doc("options.md"), rf"\| `{name}` \| number, \d+ to \d+ \| `64` \|")
        self.assertRegex(doc("man/libproftrace.7.scd"), rf"\*{name}\* \(64; \d+ to \d+\)\n\t")

    def test_command(self):
        trace = self.assembled(PROCESS + "thread 7/8 slot=0 life=1 start=0.000000000\n")
        self.assertEqual(proftrace("threads", trace), "7 8\n")
        self.assertEqual(proftrace("threads", "--main", trace), "7 8\n")
        self.assertRegex(proftrace("help"), r"(?m)^ +threads .*the threads of a run, each with its process$")
        self.assertIn("--main", proftrace("threads", "--help"))
        self.assertIn("threads", proftrace("thread", rc=2))
        self.assertIn("| `proftrace threads [RUN]` |", doc("commands.md"))
        self.assertIn("*threads*\n\t", doc("man/proftrace.1.scd"))
        self.assertIn("*--main*", doc("man/proftrace-threads.1.scd"))

    def test_analysis(self):
        declared = next(b.text for b in PAGES["analysis"].blocks if b.path.endswith("views.def"))
        key, title, by = re.search(r'^ANALYSIS_TABLE\(\w+, ".*?", "(\w+)", "(.*?)",.*, (\w+)\)$', declared, re.M).groups()
        seeks = "".join(f"0.{i}00000000 +0.000020000 7/7 io_seek fd=3 position_bytes=0 path=\"/data/x\" whence=SEEK_SET\n" for i in range(1, 4))
        shown = self.forms(self.assembled(PROCESS + seeks))
        shown["stats"] += proftrace("stats", "--by", by.lower(), self.folder / "trace.ptr")
        self.assertEqual(json.loads(shown.pop("json"))["stages"][0][key], [{"pid": 7, "seeks": 3, "total_s": 6e-05}])
        for form, text in shown.items():
            self.assertIn(title, text, form)


class Tree(unittest.TestCase):
    def test_every_page_has_a_test(self):
        for name, page in PAGES.items():
            self.assertTrue(hasattr(Example, f"test_{name}"), name)
            self.assertTrue(page.rows and page.blocks, f"{name}.md does not say what one touches, or its example names no file")

    def test_touches_what_the_page_says(self):
        for name, page in PAGES.items():
            needed = [b for b in page.blocks if not b.is_shown]
            rows = sum(len(deftable.rows_in_text(b.text)) for b in needed if (ROOT / b.path).exists())
            files = sum(not (ROOT / b.path).exists() for b in needed)
            self.assertEqual((rows, files), (page.rows, page.files), f"{name}.md: rows, files")

    def test_all_else_is_generated(self):
        touched = {block.path for page in PAGES.values() for block in page.blocks}
        here = {str(p.relative_to(TREE)) for p in TREE.rglob("*") if p.is_file() and p.relative_to(TREE).parts[0] not in ("build", ".git")}
        here = {path for path in here if "__pycache__" not in path}
        different = {p for p in here if not (ROOT / p).exists() or (ROOT / p).read_bytes() != (TREE / p).read_bytes()}
        begun = {p for p in different - touched if not (ROOT / p).exists()}
        self.assertEqual(begun, {"docs/man/proftrace-threads.1.scd"})
        for path in different - touched - begun:
            self.assertRegex((ROOT / path).read_text(encoding="utf-8"), r"generated: \w+", path)

    def test_checks_of_the_tree_pass(self):
        for script in ("gen_docs.py", "check_shape.py", "check_circles.py", "check_layers.py"):
            run(sys.executable, TREE / "scripts" / script, *(["--check"] if script == "gen_docs.py" else []))
        for check in ("check_man.py", "check_library.py", "check_headers.py"):
            run(sys.executable, ROOT / "tests/consistency" / check, TREE, TREE / "build", limit_s=800)  # each header is compiled, by both compilers

    @unittest.skipUnless(shutil.which("clang-format"), "needs clang-format")
    def test_format(self):
        for page in PAGES.values():
            for path in (TREE / b.path for b in page.blocks if b.path.endswith(".c")):
                run("clang-format", "--dry-run", "-Werror", f"--style=file:{ROOT}/.clang-format", path)


if __name__ == "__main__":
    unittest.main()
