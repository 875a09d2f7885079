#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions and lines of Python in the CPU profile against programs that know where their time went, on every CPython; and beside
cProfile and py-spy."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import pythons

HERE = pathlib.Path(__file__).resolve().parent
PROFTRACE = pythons.BUILD / "proftrace"
PROGRAM = HERE / "split.py"
POINTS = 3.0
SECONDS = "2.5"


def line_of(text):
    return next(i for i, line in enumerate(PROGRAM.read_text().splitlines(), 1) if line.strip().endswith(text))


# Its functions are not the program's own.
LIBRARY = "".join(f"def spin{i}(n):\n    return sum(j * j for j in range(n))\n" for i in range(13))
STEPS = """\
import library
def main():
    for _ in range(40):
        for spin in (library.spin0, library.spin1, library.spin2, library.spin3, library.spin4, library.spin5, library.spin6, library.spin7, library.spin8):
            spin(30000)
        library.spin12(90000)
main()
"""


class CpuProfile(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="python-cpu-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.run_folder = self.folder / "run"

    def ask(self, *command):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PROFTRACE_", "LD_PRELOAD", "PYTHON"))}
        return subprocess.run(command, capture_output=True, text=True, timeout=200, check=True, env=environment, cwd=self.folder).stdout

    def profile(self, python, *arguments, program=PROGRAM, before=()):
        """What the program says of itself."""
        shutil.rmtree(self.run_folder, ignore_errors=True)
        out = self.ask(*before, PROFTRACE, "run", "--no-report", "--no-gpu-sampling", "-o", self.run_folder, "--", python.path, program, *arguments)
        return json.loads(out.splitlines()[-1]) if out else {}

    def functions(self):
        stage = json.loads(self.ask(PROFTRACE, "report", "--format", "json", self.run_folder))["stages"][0]
        if stage["cpu_s"] and not stage.get("python", {}).get("functions"):
            self.skipTest(f"no samples here: {stage.get('python')}")
        return {row["function"]: row for row in stage["python"]["functions"] if row["file"].endswith("split.py")}

    def lines(self):
        stage = json.loads(self.ask(PROFTRACE, "stats", "--by", "line", "--json", self.run_folder))["stages"][0]
        return {row["line"]: row for row in stage["python_lines"] if row["file"].endswith("split.py")}

    def on_each(self, check):
        """Others on the machine disturb a measurement, never improve it: one of three must hold its bounds."""
        for python in pythons.some():
            with self.subTest(str(python)):
                for is_last in (False, False, True):
                    try:
                        check(python)
                        break
                    except AssertionError:
                        if is_last:
                            raise

    def test_the_place_is_the_line_that_costs_most(self):
        """Three quarters of the time begin in one line and go on in nine functions of a library; the fourth goes on in one, the largest."""
        program = self.folder / "steps.py"
        package = self.folder / "lib/python3/site-packages"
        package.mkdir(parents=True)
        (package / "library.py").write_text(LIBRARY)
        program.write_text(f"import sys\nsys.path.insert(0, {str(package)!r})\n" + STEPS)
        line = program.read_text().splitlines().index("            spin(30000)") + 1
        self.on_each(lambda python: self.check_place(python, program, line))

    def test_the_place_of_an_installed_program_is_in_its_package(self):
        """The script that pip writes, and `python -m`: neither has a frame outside of packages that is the program's."""
        package = self.folder / "lib/python3/site-packages"
        (package / "detector").mkdir(parents=True)
        (package / "library.py").write_text(LIBRARY)
        (package / "detector/__init__.py").touch()
        train = package / "detector/train.py"
        train.write_text(STEPS.replace("\nmain()", "\nif __name__ == '__main__':\n    main()"))
        script = self.folder / "bin/detector-train"
        script.parent.mkdir()
        path = f"import sys; sys.path.insert(0, {str(package)!r})\n"
        script.write_text(path + "from detector.train import main\nif __name__ == '__main__':\n    sys.exit(main())\n")
        line = train.read_text().splitlines().index("            spin(30000)") + 1
        self.on_each(lambda python: self.check_place(python, script, line, train))
        (self.folder / "lib/sitecustomize.py").write_text(path)
        here = ("env", f"PYTHONPATH={self.folder / 'lib'}")
        self.check_place(pythons.found()[-1], "-mdetector.train", line, train, here)

    def test_the_place_of_a_script_in_a_folder_named_bin_is_in_the_script(self):
        """No installer wrote it: what it imports is installed elsewhere."""
        package = self.folder / "venv/lib/python3/site-packages"
        package.mkdir(parents=True)
        (package / "slow.py").write_text(LIBRARY + "for _ in range(300):\n    spin0(30000)\n")
        script = self.folder / "bin/own"
        script.parent.mkdir()
        script.write_text(f"import sys; sys.path.insert(0, {str(package)!r})\nimport slow\n")
        self.on_each(lambda python: self.check_place(python, script, 2))

    def check_place(self, python, program, line, file=None, before=()):
        self.ask(*before, PROFTRACE, "run", "--no-report", "--no-gpu-sampling", "-o", self.run_folder, "--", python.path, program)
        report = json.loads(self.ask(PROFTRACE, "report", "--format", "json", self.run_folder))
        shutil.rmtree(self.run_folder)
        found = {row["rule"]: row["place"] for row in report["findings"] + report["observations"]}
        self.assertEqual((found["one_thread_computes"]["file"], found["one_thread_computes"]["line"]), (str(file or program), line))

    def test_functions_and_lines_have_their_known_share(self):
        self.on_each(self.check_split)

    def check_split(self, python):
        own_s = self.profile(python, "split", SECONDS)
        functions, lines, all_s = self.functions(), self.lines(), sum(own_s.values())
        for name, seconds in own_s.items():
            self.assertAlmostEqual(functions[name]["self_percent"], 100 * seconds / all_s, delta=POINTS, msg=name)
            self.assertEqual(functions[name]["line"], line_of(f"def {name}():"))
        self.assertGreater(functions["main"]["total_percent"], 85)
        self.assertLess(functions["main"]["self_percent"], 2)
        for text, percent in (("line of half", 50), ("line of third", 30), ("first line of fifth", 10), ("second line of fifth", 10)):
            self.assertAlmostEqual(lines[line_of(text)]["self_percent"], percent, delta=POINTS, msg=text)

    def test_recursion_generators_methods_and_threads(self):
        self.on_each(self.check_shapes)

    def check_shapes(self, python):
        self.profile(python, "shapes", "0")
        functions = self.functions()
        method = "Reader.work" if python.version >= (3, 11) else "work"
        spent = {"sink": 2, "items": 6, method: 12}
        seen_s = sum(functions[name]["self_s"] for name in spent)
        for name, slices in spent.items():
            row = functions[name]
            self.assertAlmostEqual(100 * row["self_s"] / seen_s, 100 * slices / 20, delta=POINTS * 2, msg=name)
            self.assertAlmostEqual(row["total_s"], row["self_s"], delta=0.03, msg=f"{name} counts once")
        self.assertAlmostEqual(functions["work_of_reader"]["total_s"], functions[method]["self_s"], delta=0.05)

    def test_pstats_is_read_by_each_python(self):
        newest = pythons.found()[-1]
        self.profile(newest, "split", "0.8")
        self.functions()
        self.ask(PROFTRACE, "export", "--to", "pstats", "-o", self.folder / "x.pstats", self.run_folder)
        for python in pythons.found():
            with self.subTest(str(python)):
                out = self.ask(
                    python.path, "-c", "import pstats; p = pstats.Stats('x.pstats').sort_stats('tottime'); p.print_stats(5); "
                    "p.print_callers('half'); p.print_callees('measured')")
                self.assertRegex(out, r"split\.py:\d+\(half\)")
                self.assertRegex(out, r"\(half\)\s+<-\s.*\(measured\)")

    def test_a_file_is_shown_with_what_its_lines_cost(self):
        program = self.folder / "split.py"
        shutil.copy(PROGRAM, program)
        os.utime(program, (1, 1))
        self.profile(pythons.found()[-1], "split", "0.8", program=program)
        self.functions()
        shown = self.ask(PROFTRACE, "report", "--source", "split.py", self.run_folder)
        self.assertRegex(shown, r"\d %\s+\d+ %.*\|     while clock\(\) < end:  # line of")
        self.assertNotIn("class Reader", shown)  # far from what costs
        page = self.ask(PROFTRACE, "report", "--source", "split.py", "--format", "html", self.run_folder)
        self.assertRegex(page, r'<td class="code">\|     while clock\(\) &lt; end:  # line of')
        program.write_text("# another program\n")
        shown = self.ask(PROFTRACE, "report", "--source", program, self.run_folder)
        self.assertNotIn("another program", shown)
        self.assertRegex(shown, rf" {line_of('line of half')}  \(the file is not")

    def test_a_file_without_a_folder_is_of_the_folder_of_the_run(self):
        where, elsewhere = self.folder / "program", self.folder / "elsewhere"
        for folder, text in ((where, "def half():\n    for i in range(4000000): i * i  # of the run\nhalf()\n"), (elsewhere, "another\n" * 3)):
            folder.mkdir()
            (folder / "part.py").write_text(text)
            os.utime(folder / "part.py", (1, 1))
        compiled = "exec(compile(open('part.py').read(), 'part.py', 'exec'))"
        self.ask("env", "-C", where, PROFTRACE, "run", "--no-report", "--no-gpu-sampling", "-o", self.run_folder, "--", pythons.found()[-1].path, "-c", compiled)
        self.functions()
        shown = self.ask("env", "-C", elsewhere, PROFTRACE, "report", "--source", "part.py", self.run_folder)
        self.assertIn("# of the run", shown)
        self.assertNotIn("another", shown)

    def test_phases_and_workers_have_their_own_functions(self):
        able = [python for python in pythons.found() if subprocess.run([python.path, "-c", "import torch"], capture_output=True, check=False).returncode == 0]
        if not able:
            self.skipTest("no Python here has torch")
        for workers in 0, 2:
            with self.subTest(workers=workers):
                own_s = self.profile(able[-1], str(workers), program=HERE / "phased.py")
                self.functions()
                stage = json.loads(self.ask(PROFTRACE, "report", "--format", "json", self.run_folder))["stages"][0]
                rows = [row for row in stage["python_by_phase"] if row["function"] == "compute"]
                for phase, seconds in own_s.items():
                    seen = sum(row["cpu_s"] for row in rows if row["phase"] == phase)
                    self.assertAlmostEqual(seen, seconds, delta=0.08 + 0.12 * seconds, msg=str(rows))
                # Each pass has workers of its own.
                self.assertEqual(len({row["pid"] for row in rows if row["phase"] == "worker_fetch"}), 2 * workers or 1, rows)

    def test_code_that_is_compiled_is_of_that_phase(self):
        able = [python for python in pythons.found() if subprocess.run([python.path, "-c", "import torch._dynamo"], capture_output=True, check=False).returncode == 0]
        if not able:
            self.skipTest("no Python here has a torch that compiles")
        self.profile(able[-1], program=HERE / "programs/recompiles.py")
        stage = json.loads(self.ask(PROFTRACE, "report", "--format", "json", self.run_folder))["stages"][0]
        # Some twenty; their seconds are the machine's, and it may be busy.
        self.assertGreaterEqual(sum(row["samples"] for row in stage["python_by_phase"] if row["phase"] == "compile"), 5)

    def without(self, call):
        """A program that runs another one in which a system call is refused."""
        program = self.folder / "without"
        text = (HERE.parent / "cpu_profile" / "no_perf.c").read_text().replace("SYS_perf_event_open", call)
        subprocess.run(["cc", "-D_GNU_SOURCE", "-x", "c", "-", "-o", program], input=text, text=True, check=True)
        return program

    def test_without_perf_events_threads_are_looked_at(self):
        self.on_each(lambda python: self.check_without_perf(python, self.without("SYS_perf_event_open")))

    def check_without_perf(self, python, without):
        own_s = self.profile(python, "split", SECONDS, before=(without,))
        functions = self.functions()
        for name, seconds in own_s.items():
            self.assertAlmostEqual(functions[name]["self_percent"], 100 * seconds / sum(own_s.values()), delta=POINTS, msg=name)

    def test_without_the_right_to_read_the_rest_remains(self):
        own_s = self.profile(pythons.found()[-1], "split", "0.5", before=(self.without("SYS_process_vm_readv"),))
        stage = json.loads(self.ask(PROFTRACE, "report", "--format", "json", self.run_folder))["stages"][0]
        self.assertIsNone(stage["python"]["functions"])
        self.assertRegex(stage["python"]["functions_reason"], "may not be read|perf_event_open|was not read")
        self.assertGreater(stage["cpu_s"], sum(own_s.values()))

    def test_other_formats_name_functions_of_python(self):
        self.profile(pythons.found()[-1], "split", "0.5")
        self.functions()
        collapsed = self.ask(PROFTRACE, "export", "--to", "collapsed", "-o", "-", self.run_folder)
        self.assertRegex(collapsed, rf";main \(split\.py:\d+\);rounds \(split\.py:\d+\);measured \(split\.py:\d+\);half "
                         rf"\(split\.py:{line_of('line of half')}\)")
        speedscope = json.loads(self.ask(PROFTRACE, "export", "--to", "speedscope", "-o", "-", self.run_folder))
        frames = {frame["name"]: frame for frame in speedscope["shared"]["frames"]}
        self.assertEqual(frames["half"]["line"], line_of("def half():"))
        self.assertTrue(frames["half"]["file"].endswith("split.py"))
        page = self.ask(PROFTRACE, "report", "--format", "html", "-o", "-", self.run_folder)
        self.assertIn("half (split.py)", page)

    def test_beside_cprofile_and_py_spy(self):
        python = pythons.found()[-1]
        with self.subTest("cProfile"):
            own_s = self.profile(python, "split", SECONDS)
            ours = self.functions()
            self.ask(python.path, "-m", "cProfile", "-o", self.folder / "c.prof", PROGRAM, "split", SECONDS)
            rows = self.ask(python.path, "-c", "import pstats; print({k[2]: v[3] for k, v in pstats.Stats('c.prof').stats.items()})")
            theirs = eval(rows)  # a dictionary that we had printed  # pylint: disable=eval-used
            all_s, their_s = sum(own_s.values()), sum(theirs[name] for name in own_s)
            for name, seconds in own_s.items():
                truth, their = 100 * seconds / all_s, 100 * theirs[name] / their_s
                print(f"\n  {name}: truth {truth:.1f} %, proftrace {ours[name]['self_percent']:.1f} %, cProfile {their:.1f} %", end="")
                self.assertAlmostEqual(ours[name]["self_percent"], truth, delta=POINTS)
        with self.subTest("py-spy"):
            self.beside_py_spy(python)

    def beside_py_spy(self, python):
        tool = shutil.which("py-spy")
        if not tool:
            venv = self.folder / "venv"
            subprocess.run([sys.executable, "-m", "venv", venv], check=True, capture_output=True)
            got = subprocess.run([venv / "bin/pip", "install", "-q", "py-spy"], capture_output=True, text=True, check=False, timeout=120)
            tool = venv / "bin/py-spy"
            if got.returncode or not tool.exists():
                self.skipTest(f"no py-spy: {got.stderr[-200:]}")
        raw = self.folder / "spy.txt"
        done = subprocess.run([tool, "record", "-f", "raw", "-F", "-r", "99", "-o", raw, "--", python.path, PROGRAM, "split", SECONDS],
                              capture_output=True, text=True, check=False, timeout=120)
        if not raw.exists() or not raw.read_text():
            self.skipTest(f"py-spy does not work here: {done.stderr[-300:]}")
        theirs = {}
        for line in raw.read_text().splitlines():
            stack, count = line.rsplit(" ", 1)
            name = re.sub(r" \(.*", "", stack.split(";")[-1])
            theirs[name] = theirs.get(name, 0) + int(count)
        own_s = self.profile(python, "split", SECONDS)
        ours, all_s, their_all = self.functions(), sum(own_s.values()), sum(theirs.values())
        for name, seconds in own_s.items():
            truth, their = 100 * seconds / all_s, 100 * theirs.get(name, 0) / their_all
            print(f"\n  {name}: truth {truth:.1f} %, proftrace {ours[name]['self_percent']:.1f} %, py-spy {their:.1f} %", end="")
            self.assertAlmostEqual(ours[name]["self_percent"], truth, delta=POINTS)


if __name__ == "__main__":
    if not pythons.found():
        sys.exit(77)
    unittest.main()
