# SPDX-License-Identifier: MIT
"""What is set in the environment and has no effect is said in one line: the library that ignores it has no voice."""
import json
import os
import re
import subprocess
import unittest

from launcher_case import BUILD, LauncherCase, clean_environment

HERE = os.path.dirname(os.path.abspath(__file__))
OPTION = re.compile(r'^OPTION\((\w+), (\w+), "([^"]*)"', re.M)


class Options(LauncherCase):
    def said(self, **environment):
        done = self.run_it("true", environment=dict(environment, PROFTRACE_QUIET="1"))
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        return done.stderr.decode(errors="replace").splitlines()

    def test_every_option_of_the_library_is_known(self):
        """Both halves read one table: what the library refuses, the launcher names, of each row."""
        with open(os.path.join(HERE, "..", "..", "include", "proftrace", "options.def"), encoding="utf-8") as file:
            rows = OPTION.findall(file.read())
        self.assertGreater(len(rows), 10)
        for name, kind, default in rows:
            variable = "PROFTRACE_" + name.upper()
            if kind == "TEXT":
                continue
            with self.subTest(variable=variable):
                if name not in ("quiet", "disable"):
                    lines = self.said(**{variable: "12 monkeys"})
                    self.assertEqual(len(lines), 1, lines)
                    self.assertIn(f"{variable}=12 monkeys is not", lines[0])
                self.assertEqual(self.said(**{variable: default}), [])

    def test_a_wrong_interval_has_no_effect(self):
        """It ended the run with 125, also where nothing was to be recorded."""
        for value, off in (("abc", "0"), ("5", "0"), ("5", "1")):
            done = self.run_it("sh", "-c", "exit 3", environment={"PROFTRACE_INTERVAL_MS": value, "PROFTRACE_DISABLE": off})
            self.assertEqual(done.returncode, 3, done.stderr)
            said = f"PROFTRACE_INTERVAL_MS={value} is not a time of 10 ms or more and has no effect; give one, such as 500"
            self.assertEqual(said in done.stderr.decode(), off == "0", done.stderr)
            if off == "0":
                self.assertEqual(self.record()["interval_ns"], 500000000)
        checks = json.loads(self.proftrace("doctor", "--json", environment={"PROFTRACE_INTERVAL_MS": "5"}).stdout)["checks"]
        self.assertIn("INTERVAL_MS=5 is not", [check["detail"] for check in checks if check["name"] == "options"][0])

    def test_the_nearest_value_is_named(self):
        for variable, value, words in (
                ("PROFTRACE_HEAP", "fulll", "fulll is not understood and has no effect; did you mean full?"),
                ("PROFTRACE_HEAP", "FULL", "did you mean full?"), ("PROFTRACE_HEAP", "everything", "use one of off, sampled, full"),
                ("PROFTRACE_IO", "offf", "did you mean off?"), ("PROFTRACE_RING_MIB", "64M", "did you mean 64?"),
                ("PROFTRACE_RING_MIB", "9" * 30, "such as 256"), ("PROFTRACE_HEEP", "full", "did you mean PROFTRACE_HEAP?"),
                ("PROFTRACE_IO", "\x1b[2J\n", "PROFTRACE_IO=")):
            with self.subTest(variable=variable, value=value):
                lines = self.said(**{variable: value})
                self.assertEqual(len(lines), 1, lines)
                self.assertIn(words, lines[0])
                self.assertNotIn("\x1b", lines[0])
        self.assertEqual(self.said(PROFTRACE_PIPELINE_CONFIG="1", PROFTRACE_DIR="elsewhere"), [])

    def test_every_other_name_is_named_once(self):
        """Those that came from elsewhere, or from a version that had them: they were accepted in silence."""
        names = ("PROFTRACE_STEPS", "PROFTRACE_TRAINING", "PROFTRACE_VISITED_PAGES")
        lines = self.said(**{name: "active=100" for name in names})
        self.assertEqual(sorted(line.split()[1] for line in lines), list(names))
        for line in lines:
            self.assertIn("is no option and has no effect; docs/options.md", line)
        self.proftrace("run", "--", "/bin/sh", "-c", "/bin/true; :", environment={name: "1" for name in names})
        self.assertIn("3 PROFTRACE_ variables had no effect (proftrace info)", " ".join(self.proftrace("report").stdout.decode().split()))
        for arguments in (("report", "--format", "json"), ("report", "--full"), ("info",), ("report", "--format", "md")):
            shown = self.proftrace(*arguments).stdout.decode().replace("\\", "")
            for name in names:
                self.assertEqual(shown.count(f"{name} is no option and has no effect"), 1, arguments)

    def test_a_bare_preload_keeps_them_for_the_reports(self):
        """Nobody may speak in the program: what it was given in vain stands in the trace, the child's no second time."""
        environment = clean_environment(LD_PRELOAD=os.path.join(BUILD, "libproftrace.so"), PROFTRACE_HEEP="full", PROFTRACE_HEAP="fulll",
                                        PROFTRACE_IO="o\x1b[2J off", PROFTRACE_CUPTI="mine", PROFTRACE_SOMEBODY_ELSES="hush",
                                        PROFTRACE_RING_MIB="9" * 100, PROFTRACE_STDIO="")
        done = subprocess.run(["/bin/sh", "-c", "/bin/true; :"], env=environment, cwd=self.folder, capture_output=True, check=True)
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        notes = json.loads(self.proftrace("info", "--json").stdout)["notes"]
        self.assertEqual(sorted(note.split("; ")[0] for note in notes), [
            "PROFTRACE_CUPTI=mine is not understood and has no effect", "PROFTRACE_HEAP=fulll is not understood and has no effect",
            "PROFTRACE_HEEP is no option and has no effect", "PROFTRACE_IO=o?[2J?off is not understood and has no effect",
            f"PROFTRACE_RING_MIB={'9' * 32} is not a whole number and has no effect",
            "PROFTRACE_SOMEBODY_ELSES is no option and has no effect"])
        self.assertIn("PROFTRACE_HEEP is no option and has no effect; did you mean PROFTRACE_HEAP?", notes)
        self.assertEqual(json.loads(self.proftrace("report", "--format", "json").stdout)["trace_quality"]["notes"][:len(notes)], notes)
        root = os.path.join(self.folder, "proftrace.data", "latest")
        for name in os.listdir(root):
            with open(os.path.join(root, name), "rb") as file:
                self.assertNotIn(b"hush", file.read())

    def test_pipeline_says_so_too(self):
        with open(os.path.join(self.folder, "config.json"), "w", encoding="utf-8") as file:
            file.write('{"profile": {"stages": [{"stage": "one", "cmd": ["true"]}]}}')
        done = self.proftrace("pipeline", "--config", "config.json", environment={"PROFTRACE_IO": "offf"})
        lines = [line for line in done.stderr.decode().splitlines() if "no effect" in line]
        self.assertEqual((done.returncode, len(lines)), (0, 1), done.stderr)
        self.assertIn("did you mean off?", lines[0])

    def test_a_long_stage(self):
        """The library ignores it: run.json must have the same name as the trace."""
        lines = self.said(PROFTRACE_STAGE="s" * 128)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("PROFTRACE_STAGE has 128 bytes and has no effect; use at most 127", lines[0])
        self.assertEqual(self.record()["stage"], "true")
        self.assertEqual(self.said(PROFTRACE_STAGE="s" * 127), [])
        self.assertEqual(self.record()["stage"], "s" * 127)

    def test_both_halves_take_a_switch_in_any_case(self):
        """The launcher took TRUE and the library did not: a bare preload went on recording."""
        for word in ("1", "true", "TRUE", "On", "yes"):
            environment = clean_environment(LD_PRELOAD=os.path.join(BUILD, "libproftrace.so"), PROFTRACE_DISABLE=word)
            subprocess.run(["/bin/true"], env=environment, cwd=self.folder, check=True)
            self.assertEqual(os.listdir(self.folder), [], word)

    def test_both_halves_take_an_empty_variable_as_not_set(self):
        """One that a shell did not unset switched a layer off, an alias on, and the runs into another folder."""
        preload = os.path.join(BUILD, "libproftrace.so")
        with open(os.path.join(HERE, "..", "..", "include", "proftrace", "options.def"), encoding="utf-8") as file:
            empty = {"PROFTRACE_" + name.upper(): "" for name, _, _ in OPTION.findall(file.read())}
        self.assertEqual(self.said(**{name: "" for name in empty if name != "PROFTRACE_QUIET"}), [])
        subprocess.run(["/bin/cat", "/etc/passwd"], env=clean_environment(LD_PRELOAD=preload, **empty), cwd=self.folder, check=True, capture_output=True)
        report = json.loads(self.proftrace("report", "--format", "json").stdout)
        self.assertIn("/etc/passwd", [row["path"] for row in report["stages"][0]["files"]])
        subprocess.run(["/bin/true"], env=clean_environment(LD_PRELOAD=preload, PROFTRACE_DIR="", PROFILE_OUTPUT_DIR="x"), cwd=self.folder, check=True)
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "x"))), 2)
        environment = clean_environment(LD_PRELOAD=preload, PROFTRACE_DISABLE="", ENABLE_PROFILING="false", PROFTRACE_DIR="none")
        subprocess.run(["/bin/true"], env=environment, cwd=self.folder, check=True)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "none")))


if __name__ == "__main__":
    unittest.main()
