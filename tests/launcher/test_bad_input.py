# SPDX-License-Identifier: MIT
"""Every bad input gives one clear line, with its cause and what to do, and the exit code of the contract."""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from launcher_case import LIBRARY, LauncherCase

READERS = ("report", "stats", "info", "dump", "export")
USAGE, UNREADABLE, FAILED_FIRST, NOT_EXECUTABLE, NOT_FOUND = 2, 3, 125, 126, 127


class BadInput(LauncherCase):
    def assert_one_line(self, done, code, *words):
        lines = done.stderr.decode().splitlines()
        self.assertEqual((done.returncode, len(lines), done.stdout), (code, 1, b""), lines)
        for word in words:
            self.assertIn(word, lines[0])

    def put(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def readers(self, name):
        for reader in READERS:
            with self.subTest(reader=reader):
                more = ("--to", "chrome", "-o", "-") if reader == "export" else ()
                yield self.proftrace(reader, name, *more)

    def test_missing_command(self):
        for arguments in ((), ("--",), ("--stage", "x"), ("--stage", "x", "--")):
            self.assert_one_line(self.proftrace("run", *arguments), FAILED_FIRST, "no command to run", "usage: proftrace run")

    def test_command_that_does_not_exist(self):
        for command in ("no-such-command", "./no-such-file"):
            self.assert_one_line(self.run_it(command), NOT_FOUND, command, "check the spelling" if "/" not in command else "No such")

    def test_not_executable(self):
        self.put("text", b"hello\n")
        self.assert_one_line(self.run_it("./text"), NOT_EXECUTABLE, "./text is not executable", "chmod +x")

    def test_options_that_would_do_nothing(self):
        self.assertEqual(self.run_it("/usr/bin/python3", "-c", "import time; time.sleep(0.2)", options=("-o", "run")).returncode, 0)
        self.put("baseline.json", json.dumps({"schema_version": "1.0", "stages": {"s": [{"run": "r", "at_utc": "2026-10-01T10:00:00Z", "figures": {"open.calls": 5}}]}}).encode())
        for format in "json", "md", "html":
            self.assert_one_line(self.proftrace("report", "run", "--finding", "1", "--format", format), USAGE, f"as {format} the report has all of them")
        self.assert_one_line(self.proftrace("report", "run", "--finding", "0"), USAGE, "there is no finding 0")
        for format in "openmetrics", "junit":
            for option in ("--pid", "1"), ("--from", "1s"), ("--until", "1s"), ("--min-dur", "1s"):
                self.assert_one_line(self.proftrace("export", "run", "--to", format, *option), USAGE, option[0], "figures of whole stages")
        self.assert_one_line(self.proftrace("trend", "baseline.json", "--figure", "open"), USAGE, "did you mean 'open.calls'?")
        for top in 1, 3:
            sizes = json.loads(self.proftrace("stats", "run", "--by", "size", "--top", str(top), "--json").stdout)["stages"][0]["heap_sizes"]
            self.assertEqual(len(sizes), top)

    def test_a_run_that_is_named_with_a_space(self):
        self.assertEqual(self.run_it("true", options=("-o", "a run")).returncode, 0)
        shown = self.proftrace("report", "a run").stdout.decode()
        # Which option follows depends on what was seen: a machine that stalls at the start is an observation.
        self.assertIn("proftrace report 'a run' --", shown)

    def test_nothing_was_sampled(self):
        self.assertEqual(self.run_it("true", options=("-o", "short")).returncode, 0)
        for format in "collapsed", "speedscope", "pprof":
            self.assert_one_line(self.proftrace("export", "short", "--to", format), USAGE, "no CPU sample was taken")
        self.assert_one_line(self.proftrace("export", "short", "--to", "pprof", "--pid", "1"), USAGE, "no process of the run matches --pid")

    def test_unwritable_directory(self):
        self.put("file", b"")
        self.assert_one_line(self.run_it("touch", "ran", options=("-o", "file")), FAILED_FIRST, "file", "-o")
        self.assert_one_line(self.run_it("touch", "ran", options=("-o", "file/below")), FAILED_FIRST, "file/below", "-o")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "ran")), "the command ran")

    @contextlib.contextmanager
    def read_only_mount(self):
        place = os.path.join(self.folder, "mount")
        os.mkdir(place)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", place], capture_output=True, text=True, check=False)
        if done.returncode:
            self.skipTest(f"cannot mount here: {done.stderr.strip()}")
        try:
            yield place
        finally:
            subprocess.run(["umount", "-l", place], check=False)

    def test_read_only_file_system(self):
        with self.read_only_mount() as place:
            self.assert_one_line(self.run_it("true", options=("-o", f"{place}/run")), FAILED_FIRST, "Read-only file system", "-o")
            self.assert_one_line(self.run_it("true", environment={"PROFTRACE_DIR": place}), FAILED_FIRST, "PROFTRACE_DIR")
            self.run_it("true", options=("-o", "run"))
            self.assert_one_line(self.proftrace("report", "run", "-o", f"{place}/report"), FAILED_FIRST, "Read-only file system", place)

    def test_foreign_file(self):
        for name, content in (("text", b"hello\n"), ("empty", b""), ("zeros", bytes(8192)), ("json", b"{}"),
                              ("elf", b"\x7fELF" + bytes(9000)), ("foreign.ptr", b"PROFTRC" + bytes(9000))):
            self.put(name, content)
            for done in self.readers(name):
                self.assert_one_line(done, UNREADABLE, name, "not set up" if name == "zeros" else "not a proftrace file")
        self.assert_one_line(self.proftrace("assemble", "text", "-o", "x"), UNREADABLE, "text:1", "proftrace dump")

    def test_assemble_of_what_is_no_text(self):
        """One endless line would take all memory; a trace file is what assemble makes, not what it reads."""
        for content, cause in ((b"\x7fELF" + bytes(4096), "not text"), (b"x" * (17 << 20), "a line of more than 16 MiB"),
                               (b"PROFTRC\n" + bytes(100), "a trace file already")):
            self.put("input", content)
            with self.subTest(cause=cause):
                done = self.proftrace("assemble", "input", "-o", "x")
                self.assert_one_line(done, UNREADABLE, "input:1", cause, "`proftrace dump RUN` writes")

    def test_assemble_makes_the_directory(self):
        self.put("two.txt", b"process 1 stage=one\n0.1 +0.1 1/1 io_read fd=3\nprocess 2\n0.1 +0.1 2/2 io_read fd=3\n")
        for name in ("made", "made"): # and takes one that is there
            self.assertEqual(self.proftrace("assemble", "two.txt", "-o", name).returncode, 0)
            self.assertEqual(len([file for file in os.listdir(os.path.join(self.folder, name)) if file.endswith(".ptr")]), 2)
        self.assert_one_line(self.proftrace("assemble", "two.txt", "-o", "two.txt"), 2, "2 processes need a directory", "two.txt is none")
        self.assert_one_line(self.proftrace("assemble", "two.txt", "-o", "a/b"), FAILED_FIRST, "cannot make a/b", "No such file")

    def test_process_that_ended_before_its_trace_began(self):
        """Killed between making the file and its first word: no damage, and no line for each in a storm of processes."""
        self.put("one.txt", b"process 1 stage=one\n0.1 +0.1 1/1 io_read fd=3\n")
        self.assertEqual(self.proftrace("assemble", "one.txt", "-o", "run/").returncode, 0)
        notes = []
        for name, content in (("run/a-1-0.ptr", b""), ("run/b-2-0.ptr", bytes(90112)), ("run/c-3-0.ptr", b"")):
            self.put(name, content)
            notes += json.loads(self.proftrace("info", "run", "--json").stdout)["notes"]
            self.assert_one_line(self.proftrace("info", name), UNREADABLE, name, "the process ended before its trace began")
        self.assertEqual(notes, ["a process ended before its trace began: its file is empty",
                                 "2 processes ended before their traces began: their files are empty",
                                 "3 processes ended before their traces began: their files are empty"])

    def test_a_record_that_is_not_there(self):
        """There was a launcher: that there was none sent people to the wrong place."""
        self.run_it("true", options=("-o", "run"))
        run = os.path.join(self.folder, "run")
        one = next(os.path.join(run, name) for name in os.listdir(run) if name.endswith((".ptr", ".pts")))
        with open(os.path.join(run, "cpu-0.pcp"), "ab"):
            pass
        def told(name):
            return json.loads(self.proftrace("report", name, "--format", "json").stdout)["trace_quality"]["notes"][-1].split(";")[0]
        self.assertEqual(told(one), "a file was named, not its run")
        self.put("run/run.json", bytes(4096))
        self.assertEqual(told("run"), "run.json cannot be read")
        self.assertIn(b"resources over time: run.json cannot be read.", self.proftrace("report", "run").stdout.replace(b"\n", b" "))
        os.unlink(os.path.join(run, "run.json"))
        self.assertEqual(told("run"), "run.json is missing: the launcher wrote one, and it was not copied")
        missing = told("run")
        os.unlink(os.path.join(run, "cpu-0.pcp"))
        self.assertEqual(told("run"), missing)  # by session.bin
        exported = self.proftrace("export", "run", "--to", "collapsed", "-o", "-")
        self.assertIn(missing.encode(), exported.stderr)
        page = pathlib.Path(run, "session.bin")
        kept = page.read_bytes()
        page.write_bytes(kept[:12] + bytes(4) + kept[16:])
        self.assertEqual(told("run"), "no run.json: the library was preloaded without the launcher")
        pathlib.Path(run, "cpu-3.pcp").touch()  # of one stage of a pipeline
        self.assertEqual(told("run"), missing)

    def test_trace_files_that_are_blank(self):
        """A full disk, or a power cut: they are here, and "are not here" was said of them."""
        self.run_it(sys.executable, "-c", "for i in range(3000): open('/etc/hostname').close()", options=("-o", "run"))
        run = pathlib.Path(self.folder, "run")
        for file in run.glob("*.pts"):
            file.unlink()
        own = list(run.glob("*.ptr"))
        for file in own:
            file.write_bytes(b"")
        quality = json.loads(self.proftrace("report", "run", "--format", "json").stdout)["trace_quality"]
        self.assertGreaterEqual(quality["missing_files"], len(own))  # what they had is missing
        self.assertEqual(quality["notes"][0], "a process ended before its trace began: its file is empty")
        self.assertNotIn("not here", json.dumps(quality["notes"]))
        finding = json.loads(self.proftrace("report", "run", "--format", "json").stdout)["findings"][0]
        self.assertEqual(finding["title"], "Trace files are empty: what it did is not here")
        self.assertIn(b"Trace files are empty", self.proftrace("info", "run").stdout)

    def test_one_blank_trace_file_beside_others_that_are_not_here(self):
        """To copy them is what helps: it said that the process ended before its trace began."""
        program = "import subprocess, sys; [open('/etc/hostname').close() for i in range(3000)]; len(sys.argv) > 1 or subprocess.run([sys.executable, '-c', sys.orig_argv[2], 'child'])"
        self.run_it(sys.executable, "-c", program, options=("-o", "run"))
        run = pathlib.Path(self.folder, "run")
        for file in run.glob("*.pts"):
            file.unlink()
        blank, copied = run.glob("*.ptr")
        blank.write_bytes(b"")
        for note in "its trace files are compressed", "1 trace file was made, and is not here":
            if "compressed" in note:
                copied = copied.rename(f"{copied}.gz")
            else:
                copied.unlink()
            report = json.loads(self.proftrace("report", "run", "--format", "json").stdout)
            self.assertIn(note, report["trace_quality"]["notes"][0])
            self.assertIn("a process ended before its trace began: its file is empty", report["trace_quality"]["notes"])
            self.assertEqual(report["findings"][0]["title"], "Trace files are missing: what it did is not here")
            self.assertIn(b"Trace files are missing", self.proftrace("info", "run").stdout)

    def test_a_server_whose_parent_is_missing(self):
        """Whether that one had a connection, which the server would have, too, is not known: it was idle, as one that has none."""
        story = pathlib.Path(__file__).resolve().parent.parent / "golden/server_waits_for_its_clients.pt.txt"
        self.proftrace("assemble", story, "-o", "run")
        parent, = pathlib.Path(self.folder, "run").glob("server-300-*")
        for what, damage in ("whole", lambda: None), ("cut", lambda: os.truncate(parent, 9000)), ("missing", parent.unlink):
            with self.subTest(what=what):
                damage()
                report = json.loads(self.proftrace("report", "run", "--format", "json").stdout)
                slept = {row["pid"]: row["sleep_s"] for row in report["stages"][0]["threads"]}
                self.assertEqual((slept[100], slept[400]), (0, 7))

    def test_time_that_was_measured_elsewhere(self):
        """A copy without run.json: "start it with proftrace run" is what had been done."""
        self.run_it(sys.executable, "-c", "import ctypes; ctypes.CDLL(None).syscall(35, (ctypes.c_long * 2)(0, 500000000), None)", options=("-o", "run"))
        named = next(pathlib.Path(self.folder, "run").glob("*.ptr"))  # beside a run.json that is whole
        finding = next(finding for finding in json.loads(self.proftrace("report", named, "--format", "json").stdout)["observations"] if finding["rule"] == "time_not_measured")
        self.assertEqual(finding["remedy"], "report the whole folder of the run, with its run.json")
        for name in ("run.json", "cpu-0.pcp"):
            os.unlink(os.path.join(self.folder, "run", name))
        finding = next(finding for finding in json.loads(self.proftrace("report", "run", "--format", "json").stdout)["observations"] if finding["rule"] == "time_not_measured")
        self.assertEqual(finding["remedy"], "report the whole folder of the run, with its run.json")
        self.assertNotIn("proftrace run", finding["advice"])
        # Without a launcher nobody noted more of it, also where one file of it is named.
        sleeper = "import ctypes; ctypes.CDLL(None).syscall(35, (ctypes.c_long * 2)(0, 500000000), None); [open('/etc/hostname').close() for i in range(3000)]"
        subprocess.run([sys.executable, "-c", sleeper], check=True, timeout=100,
                       env={**os.environ, "LD_PRELOAD": LIBRARY, "PROFTRACE_DIR": os.path.join(self.folder, "bare")})
        bare = pathlib.Path(self.folder, "bare/latest").resolve()
        for name in bare, next(bare.glob("*.ptr")):
            report = json.loads(self.proftrace("report", name, "--format", "json").stdout)
            finding = next(finding for finding in report["observations"] if finding["rule"] == "time_not_measured")
            self.assertNotIn("run.json", finding["remedy"])
            self.assertNotIn("The launcher", finding["advice"])
            self.assertNotIn("not its run", json.dumps(report))

    def test_impossible_cpu_time(self):
        """A damaged number must not become the headline: more CPU time than the machine has is unknown."""
        self.run_it("sleep", "0.2", options=("-o", "run"))
        path = os.path.join(self.folder, "run", "run.json")
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        most = 100 * run["machine"]["cpus"]
        for percent, expected in ((most * 0.9, most * 0.9), (most * 9, None), (-1, None), (1e300, None)):
            run["stages"][0].update(cpu_percent_avg=percent, cpu_percent_max=percent, cpu_s=percent / 100 * 0.2)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(run, file)
            stage = json.loads(self.proftrace("report", "run", "--format", "json").stdout)["stages"][0]
            with self.subTest(percent=percent):
                self.assertEqual([stage["cpu_percent_avg"], stage["cpu_percent_max"]], [expected, expected])
                self.assertEqual(stage["cpu_s"] is None, expected is None)

    def test_output_that_cannot_be_written(self):
        """125, not 1: nothing got slower and no stage failed. One line, and no half report is left."""
        self.run_it("true", options=("-o", "run"))
        commands = (("report",), ("report", "--format", "json"), ("stats",), ("info",), ("info", "--json"), ("dump",),
                    ("dump", "--json"), ("export", "--to", "chrome", "-o", "-"))
        with open("/dev/full", "wb") as full:
            for command, *options in commands:
                done = self.proftrace(command, "run", *options, capture_output=False, stdout=full, stderr=subprocess.PIPE)
                done.stdout = b""
                with self.subTest(command=command, options=options):
                    self.assert_one_line(done, FAILED_FIRST, f"proftrace {command}: ", "No space left on device")
        for command in ("report", "stats", "export"):
            to = ("--to", "chrome") if command == "export" else ()
            for path, cause in (("/dev/full", "No space left on device"), ("no/such/folder", "No such file or directory")):
                with self.subTest(command=command, path=path):
                    self.assert_one_line(self.proftrace(command, "run", *to, "-o", path), FAILED_FIRST, path, cause)

    def test_newer_format(self):
        self.run_it("true", options=("-o", "run"))
        run = os.path.join(self.folder, "run")
        for name in os.listdir(run):
            if name.endswith((".ptr", ".pts")):
                with open(os.path.join(run, name), "r+b") as file:
                    file.seek(8)
                    file.write((99).to_bytes(4, "little"))
        for done in self.readers("run"):
            self.assert_one_line(done, UNREADABLE, "format 99 is newer", "use a newer proftrace")

    def test_nothing_there(self):
        os.mkdir(os.path.join(self.folder, "empty"))
        for done in self.readers("nothing"):
            self.assert_one_line(done, UNREADABLE, "cannot open nothing", "runs lie in proftrace.data")
        for done in self.readers("empty"):
            self.assert_one_line(done, UNREADABLE, "no trace files in empty", "proftrace run -- COMMAND")
        self.assert_one_line(self.proftrace("report"), UNREADABLE, "no run found", "proftrace run -- COMMAND")

    def test_misspelt_option(self):
        self.assert_one_line(self.proftrace("report", "--fromat", "json"), USAGE, "--fromat", "did you mean '--format'?")
        self.assert_one_line(self.proftrace("export", "--two", "chrome"), USAGE, "did you mean '--to'?")
        self.assert_one_line(self.proftrace("export", "--to", "crome"), USAGE, "did you mean 'chrome'?")
        self.assert_one_line(self.proftrace("reprot"), USAGE, "did you mean 'report'?")
        self.assert_one_line(self.proftrace("run", "--haep", "off", "true"), FAILED_FIRST, "did you mean '--heap'?")

    def test_bad_value(self):
        self.assert_one_line(self.proftrace("report", "--top", "many"), USAGE, "--top", "not a number")
        self.assert_one_line(self.proftrace("stats", "--by", "fil"), USAGE, "call|file|stack|thread|size")
        self.assert_one_line(self.proftrace("run", "-o"), FAILED_FIRST, "needs a value: RUN")
        for command in (("report",), ("stats",), ("export", "--to", "chrome")):
            self.assert_one_line(self.proftrace(*command, "--since", "0"), USAGE, "option '--since': it looks back, so it is more than 0")
        self.assert_one_line(self.proftrace("export", "--to", "chrome", "--until", "0"), USAGE, "option '--until'", "give more than 0")
        for pid in ("0", str((1 << 32) + 1)):
            self.assert_one_line(self.proftrace("export", "--to", "chrome", "--pid", pid), USAGE, f"--pid {pid}", "no process")

    def test_options_that_exclude_each_other(self):
        self.run_it("true", options=("-o", "run"))
        for options, said in ((("report", "run", "--format", "json", "--top", "10"), "those of json say in `_left_out` how many rows they lack"),
                              (("report", "run", "--top", "3"), "the report of one screen has none: add --full"),
                              (("report", "run", "--full", "--top", "3", "--finding", "1"), "leave one of them out"),
                              (("report", "run", "--source", "a.py", "--top", "3"), "leave one of them out"),
                              (("report", "run", "--source", "a.py", "--finding", "1"), "leave one of them out"),
                              (("export", "run", "--to", "chrome", "-o", "-", "--json"), "name a file with -o")):
            done = self.proftrace(*options)
            self.assert_one_line(done, USAGE, said)
            self.assertEqual(done.stdout, b"")
        self.assertEqual(self.proftrace("report", "run", "--full", "--top", "3").returncode, 0)

    def test_static_target(self):
        path = self.compile("int main(void){return 5;}", "-static")
        done = self.run_it(path)
        lines = [line for line in done.stderr.decode().splitlines() if "static" in line]
        self.assertEqual((done.returncode, len(lines)), (5, 1), done.stderr)
        self.assertIn("was not traced", lines[0])
        self.assertIn("program", lines[0])

    def test_a_program_that_could_not_be_started_is_none(self):
        """Its loader is missing: the report says why it did not run, and not that it ran untraced."""
        path = self.compile("int main(void){return 0;}", "-Wl,--dynamic-linker=/nowhere/ld.so", name="lost")
        self.assertEqual(self.run_it(path).returncode, 127)
        record = self.record()
        self.assertEqual((record["untraced"], record["status"], record["reason"]),
                         ([], "failed", f"{path}: cannot be run: No such file or directory"))
        text = self.proftrace("report").stdout.decode()
        self.assertIn("cannot be run: No such file or directory", " ".join(text.split()))
        self.assertNotIn("not traced", text)
        report = json.loads(self.proftrace("report", "--format", "json").stdout)
        self.assertEqual([(finding["rule"], finding["evidence"]["reason"]) for finding in report["findings"]],
                         [("nothing_captured", record["reason"])])

    def test_the_same_untraced_program_is_one_line(self):
        """With how often it was started: a script that starts one a thousand times would fill the report."""
        often = self.compile("int main(void){return 0;}", "-static", name="often")
        self.compile("int main(void){return 0;}", "-static", name="twice")
        self.run_it("sh", "-c", f"for i in 1 2 3 4 5 6 7; do {often}; done; ./twice; ./twice")
        text = self.proftrace("report", "--full").stdout.decode()
        self.assertEqual(re.findall(r"^\S*(often|twice) +static program +(\d+)$", text, re.M), [("often", "7"), ("twice", "2")])
        told = re.findall(r"(often|twice): static program .*?, (\d) times", " ".join(self.proftrace("info").stdout.decode().split()))
        self.assertEqual(told, [("often", "7"), ("twice", "2")])
        report = json.loads(self.proftrace("report", "--format", "json").stdout)
        listed = [(os.path.basename(p["exe"]), p["times"]) for p in report["processes"] if not p["traced"]]
        self.assertEqual((listed, report["trace_quality"]["untraced"]), ([("often", 7), ("twice", 2)], 2))


if __name__ == "__main__":
    unittest.main()
