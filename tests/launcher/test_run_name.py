#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run named as `ls proftrace.data` shows it is found from where it was recorded, by every command that takes one."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from launcher_case import PROFTRACE, LauncherCase, clean_environment

READERS = (("report",), ("stats",), ("info",), ("dump",), ("export", "--to", "chrome", "-o", "-"))


class RunName(LauncherCase):
    def only_run(self, root):
        return next(name for name in os.listdir(os.path.join(self.folder, root)) if name != "latest")

    def assert_found(self, name, **environment):
        for reader, *more in READERS:
            with self.subTest(reader=reader):
                done = self.proftrace(reader, name, *more, environment=environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout)

    def test_in_the_folder_of_the_recording(self):
        self.run_it("true")
        self.assert_found(self.only_run("proftrace.data"))

    def test_in_the_root_that_the_environment_names(self):
        self.run_it("true", environment={"PROFTRACE_DIR": os.path.join(self.folder, "elsewhere")})
        self.assert_found(self.only_run("elsewhere"), PROFTRACE_DIR=os.path.join(self.folder, "elsewhere"))

    def test_for_a_browser(self):
        self.run_it("true")
        name = self.only_run("proftrace.data")
        shown = subprocess.Popen([PROFTRACE, "view", name], cwd=self.folder, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, shown)
        self.assertIn(f"/runs/{name}?", shown.stdout.readline())

    def test_while_it_runs(self):
        launcher = self.start_it("sleep", "60", stdin=subprocess.DEVNULL)
        self.wait_for_command(launcher.pid, "sleep")
        stacks = self.wait_for(lambda: (done := self.proftrace("stacks", self.only_run("proftrace.data"))).returncode == 0 and done)
        self.assertIn(b"sleep", stacks.stdout)
        launcher.terminate()
        launcher.wait()

    def test_where_nothing_was_traced(self):
        self.run_it(self.compile("int main(void){return 0;}", "-static"))
        done = self.proftrace("report", self.only_run("proftrace.data"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"Nothing was captured", done.stdout)
        root = self.proftrace("report", "proftrace.data")  # means its latest run, as no name at all does
        self.assertEqual((root.returncode, root.stderr), (0, b""))
        self.assertEqual(root.stdout.replace(b"proftrace.data/latest", b"RUN"), self.proftrace("report").stdout.replace(b"proftrace.data/latest", b"RUN"))

    def test_where_nothing_was_traced_by_bare_preload(self):
        """There is no run.json that says more: the message names what does."""
        run = os.path.join(self.folder, "proftrace.data/run")
        os.makedirs(run)
        with open(os.path.join(run, "session.bin"), "wb"):
            pass
        os.symlink("run", os.path.join(self.folder, "proftrace.data/latest"))
        for reader, *more in READERS:
            done = self.proftrace(reader, *more)
            self.assertEqual(done.returncode, 3)
            self.assertIn(b"nothing was traced", done.stderr)
            self.assertIn(b"`proftrace doctor -- COMMAND`", done.stderr)

    def test_where_trace_files_are_gone(self):
        """Artifacts without *.ptr, or packed ones: "nothing was traced" sent people to `proftrace doctor`."""
        self.run_it("true", options=("-o", "run"))
        run = pathlib.Path(self.folder, "run")
        (run / "report.json").unlink(missing_ok=True)
        n = len(json.loads(self.proftrace("info", "run", "--json").stdout)["processes"])
        for gone, words in ((lambda file: file.rename(f"{file}.gz"), "its trace files are compressed: unpack them ("),
                            (pathlib.Path.unlink, f"{n} trace file{' was' if n == 1 else 's were'} made, and {'is' if n == 1 else 'are'} not here: copy *.ptr and *.pts")):
            for file in [*run.glob("*.ptr*"), *run.glob("*.pts*")]:
                gone(file)
            report = self.proftrace("report", "run", "--format", "json")
            self.assertEqual(report.returncode, 0, report.stderr)
            quality = json.loads(report.stdout)["trace_quality"]
            self.assertEqual(quality["missing_files"], n)
            self.assertIn(words, quality["notes"][0])
            self.assertIn(b"Trace files are missing: what it did is not here", self.proftrace("report", "run").stdout)
            self.assertEqual([finding["evidence"]["reason"] for finding in json.loads(report.stdout)["findings"]], [quality["notes"][0]])
            info = self.proftrace("info", "run").stdout
            self.assertIn(b"copy the whole folder of the run", b" ".join(info.split()))
            self.assertNotIn(b"doctor", info)
            record = (run / "run.json").read_bytes()
            (run / "run.json").unlink()
            for reader, *more in READERS:
                done = self.proftrace(reader, "run", *more)
                self.assertEqual(done.returncode, 3)
                self.assertIn(words.encode(), done.stderr)
            (run / "run.json").write_bytes(record)

    def test_where_the_file_of_small_processes_is_gone(self):
        """A stage without any other sent people to PROFTRACE_DISABLE."""
        config = {"profile": {"stages": [{"stage": "small", "cmd": ["true"]}, {"stage": "large", "cmd": [sys.executable, "-c", "for i in range(3000): open('/etc/hostname').close()"]}]}}
        pathlib.Path(self.folder, "config.json").write_text(json.dumps(config), encoding="utf-8")
        self.assertEqual(self.proftrace("pipeline", "--config", "config.json").returncode, 0)
        run = pathlib.Path(self.folder, "proftrace.data/latest").resolve()
        for file in run.glob("*.pts"):
            file.unlink()
        findings = [one for one in json.loads(self.proftrace("report", run, "--format", "json").stdout)["findings"] if one["rule"] == "nothing_captured"]
        self.assertEqual([(one["stage"], one["title"], one["evidence"]["reason"]) for one in findings],
                         [("small", "Trace files are missing: what it did is not here", "trace files are missing: its processes may be in them")])

    def test_a_folder_of_runs_without_a_link(self):
        """`aws s3 sync`, zip and git leave `latest` out."""
        for name in ("20260101-120000-a", "20260102-120000-b", "20260103-120000-c", "20260104-120000-d"):
            self.run_it("true", options=("-o", f"runs/{name}"))
        os.mkdir(os.path.join(self.folder, "runs", "9-nothing"))
        words = "no latest run is marked in runs; name one: runs/20260104-120000-d, runs/20260103-120000-c, runs/20260102-120000-b\n"
        for reader, *more in READERS:
            for arguments, environment in (((reader, "runs", *more), {}), ((reader, *more), {"PROFTRACE_DIR": "runs"})):
                done = self.proftrace(*arguments, environment=environment)
                self.assertEqual(done.returncode, 3)
                self.assertTrue(done.stderr.decode().endswith(words), done.stderr)

    def test_what_lies_here_comes_first(self):
        self.run_it("true")
        name = self.only_run("proftrace.data")
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(b"no trace")
        self.assertEqual(self.proftrace("report", name).returncode, 3)

    def test_a_path_is_only_a_path(self):
        self.run_it("true")
        done = self.proftrace("report", "./" + self.only_run("proftrace.data"))
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"runs lie in proftrace.data", done.stderr)


if __name__ == "__main__":
    unittest.main()
