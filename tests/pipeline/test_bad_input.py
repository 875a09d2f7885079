# SPDX-License-Identifier: MIT
"""What cannot work is said in one clear line, before anything runs: configuration, options, commands, folders."""
import json
import os
import subprocess
import unittest

from pipeline_case import LATEST, NAMES, PROFTRACE, Outcome, PipelineCase, seven, sh

RUN = {"stage": "a", **sh("echo > ran")}


class Configuration(PipelineCase):
    """Broken in more than ten ways."""

    def with_text(self, text, *arguments, environment=None):
        self.write("config.json", text)
        return self.proftrace("pipeline", *arguments, environment=environment)

    def test_each(self):
        def profile(**more):
            return json.dumps({"profile": {"stages": [RUN], **more}})

        def stage(**more):
            return json.dumps({"profile": {"stages": [{**RUN, **more}]}})
        broken = {
            "not JSON": ("{", "config.json"),
            "a comment": ('{\n  // why\n  "profile": {}\n}', "line 2, column 3"),
            "a comma at the end": ('{"profile": {"stages": [],}}', "config.json"),
            "NaN": ('{"profile": {"interval_ms": NaN}}', "config.json"),
            "a list": ("[]", "config.json"),
            "empty": ("", "config.json"),
            "binary": (b"\x7fELF\0\1\2\3" * 100, "config.json"),
            "not UTF-8": (b'{"profile": {"dataset": "\xff\xfe"}}', "UTF-8"),
            "the section": ('{"profile": 7}', "profile"),
            "stages": (profile(stages={}), "profile.stages: expected a list"),
            "no stages": (profile(stages=[]), "profile.stages is empty"),
            "a stage": (profile(stages=[RUN, "train"]), "profile.stages[1]: expected a stage"),
            "no name": (json.dumps({"profile": {"stages": [{"cmd": ["true"]}]}}), "profile.stages[0].stage is missing"),
            "a name twice": (profile(stages=[RUN, RUN]), "profile.stages[1].stage: 'a' is the name of profile.stages[0]"),
            "a name with a slash": (stage(stage="../../evil"), "must not hold a /"),
            "a name with an escape": (stage(stage="\x1b[2Jx"), "control characters"),
            "a long name": (stage(stage="x" * 128), "at most 127 bytes"),
            "cmd": (stage(cmd="echo hello"), "profile.stages[0].cmd: expected a list of strings"),
            "cmd inside": (stage(cmd=["echo", 7]), "profile.stages[0].cmd"),
            "no cmd": (stage(cmd=[]), "profile.stages[0].cmd is empty"),
            "cmd and skip": (stage(skip="why"), "has both cmd and skip"),
            "timeout": (stage(timeout_s="ten"), 'profile.stages[0].timeout_s: expected a number from 0.001 to 1000000000, '
                                                'found the string "ten"'),
            "timeout below": (stage(timeout_s=0), "profile.stages[0].timeout_s"),
            "env": (stage(env={"A": 7}), "profile.stages[0].env"),
            "cwd": (stage(cwd=7), "profile.stages[0].cwd"),
            "interval": (profile(interval_ms=1), "profile.interval_ms"),
            "heap": (profile(heap="much"), "profile.heap"),
            "epochs": (profile(train_epochs=0), "profile.train_epochs"),
            "gpu": (profile(enable_gpu_sampling="yes"), "profile.enable_gpu_sampling"),
            "floors": (profile(quality={"min": {"recall_proxy": "high"}}), "profile.quality.min"),
            "threshold": (profile(thresholds={"cpu_percent": 101}), "profile.thresholds.cpu_percent"),
            "deep": ("[" * 100000, "config.json"),
        }
        for name, (text, part) in broken.items():
            with self.subTest(name):
                self.assert_one_line(self.with_text(text), part)
                self.assertEqual(os.listdir(self.work), ["config.json"])

    def test_no_file(self):
        self.assert_one_line(self.proftrace("pipeline"), "no configuration; name it with --config FILE")
        self.assert_one_line(self.proftrace("pipeline", "--config", "missing.json"), "missing.json: there is no such file")
        self.assert_one_line(self.proftrace("pipeline", "--config", "."), "directory")

    def test_an_unknown_key_is_a_warning(self):
        outcome = self.pipeline([{**RUN, "timeout": 3}], config={"profile": {"datasett": "x"}})
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn(b"did you mean 'timeout_s'?", outcome.stderr)
        self.assertIn(b"did you mean 'dataset'?", outcome.stderr)

    def test_options(self):
        self.configure([RUN])
        for arguments, part in ((["--keep-tmp"], "did you mean '--keep-temp'"), (["--interval", "1"], "--interval"),
                                (["--heap", "x"], "--heap"), (["--train-epochs", "-1"], "--train-epochs"),
                                (["--only", "b"], "there is no stage 'b'"), (["--from", "a,a"], "takes one stage"),
                                (["--ci", "jenkins"], "auto|github|none"), (["extra"], "unexpected argument 'extra'"),
                                (["--config"], "needs a value")):
            with self.subTest(arguments):
                self.assert_one_line(self.proftrace("pipeline", *arguments), part)

    def test_commands_that_cannot_run(self):
        self.write("plain", "no program")
        self.write("bad-interpreter", "#!/no/such/interpreter\n", 0o755)
        outcome = self.pipeline([RUN, {"stage": "b", "cmd": ["no-such-command"]}, {"stage": "c", "cmd": ["./plain"]},
                                 {"stage": "d", "cmd": ["./bad-interpreter"]}, {"stage": "e", "cmd": ["/tmp"]}])
        *lines, last = outcome.stderr.decode().splitlines()
        self.assert_one_line(Outcome(outcome.code, outcome.stdout, last.encode()), "nothing was run: 4 of 5 stages cannot be started", "--skip")
        for line, parts in zip(lines, (("stage 'b': no-such-command: no such command in PATH",), ("stage 'c'", "not executable"),
                                       ("stage 'd'", "/no/such/interpreter"), ("stage 'e'", "directory")), strict=True):
            self.assertTrue(line.startswith("proftrace: ") and all(part in line for part in parts), line)

    def test_a_command_that_cannot_run(self):
        outcome = self.pipeline([RUN, {"stage": "b", "cmd": ["no-such-command"]}])
        self.assert_one_line(outcome, "nothing was run: stage 'b': no-such-command: no such command in PATH; check the spelling")

    def test_a_folder_that_is_not_there(self):
        """An earlier stage may make it, so it is missed only when it is needed."""
        for place, made, problem in (("here", "mkdir here", None), ("nowhere", ":", "No such file or directory"),
                                     ("file", "touch file", "Not a directory")):
            with self.subTest(place):
                outcome = self.pipeline([{"stage": "a", **sh(made)}, {"stage": "b", **sh("pwd", cwd=place)}])
                reason = f"cannot enter the directory {self.work}/{place}: {problem}"
                self.assert_stages({"a": "ok", "b": ("failed", reason) if problem else "ok"})
                self.assertEqual(outcome.code, 1 if problem else 0, outcome)

    def test_no_temporary_directory(self):
        self.configure([RUN])
        outcome = self.proftrace("pipeline", environment={"TMPDIR": "/nowhere"})
        self.assert_one_line(outcome, "no temporary directory can be made in /nowhere", "set TMPDIR")

    def test_no_library(self):
        alone = os.path.join(self.folder, "alone")
        os.mkdir(alone)
        os.symlink(PROFTRACE, alone + "/link")
        subprocess.run(["cp", PROFTRACE, alone + "/proftrace"], check=True)
        self.configure([RUN])
        done = subprocess.run([alone + "/proftrace", "pipeline"], cwd=self.work, env=self.environment(), check=False,
                              capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"libproftrace.so is neither in", done.stderr)


class Folders(PipelineCase):
    """Where we shall write and cannot."""

    def test_report_dir_is_a_file(self):
        self.write("profiles", "")
        self.assert_one_line(self.pipeline([RUN], "--report-dir", "profiles"), "the report directory", "--report-dir")
        self.assert_one_line(self.pipeline([RUN], config={"profile": {"report_dir": "profiles"}}), "the report directory")
        self.assert_one_line(self.pipeline([RUN], "--report-dir", "profiles/below"), "the report directory")
        self.assertFalse(os.path.exists(self.work + "/proftrace.data"))

    def test_run_directory_is_a_file(self):
        self.write("proftrace.data", "")
        self.assert_one_line(self.pipeline([RUN]), "proftrace.data is not a directory")

    def test_read_only(self):
        """Root may write everywhere but there."""
        self.configure([RUN])
        os.mkdir(self.work + "/profiles")
        for place in ("profiles", "proftrace.data"):
            with self.subTest(place):
                self.write("read-only.sh", f"mkdir -p {place} && mount -t tmpfs none {place} && "
                                           f"mount -o remount,ro {place} && exec {PROFTRACE} pipeline --report-dir profiles\n")
                done = subprocess.run(["unshare", "-rm", "sh", "read-only.sh"], cwd=self.work, env=self.environment(),
                                      capture_output=True, check=False)
                if b"unshare" in done.stderr or b"mount" in done.stderr:
                    self.skipTest(f"no mounts here: {done.stderr!r}")
                self.assertEqual(done.returncode, 2, done)
                self.assertEqual(done.stderr.count(b"\n"), 1, done)
                self.assertIn(place.encode(), done.stderr)
                self.assertIn(b"Read-only file system", done.stderr)
                self.assertFalse(os.path.exists(self.work + "/ran"))

    def test_the_run_is_removed_meanwhile(self):
        """It is said once, not at each of its looks for days."""
        gone = self.pipeline([{"stage": "a", **sh("rm -rf proftrace.data/2*")}])
        self.assertEqual(gone.stderr.count(b"/run.json: No such file"), 1, gone)

    def test_full_disk_under_the_run(self):
        """2 MiB for everything: the stages run on, the end is a report or a line."""
        for size in ("2m", "300k", "40k"):
            with self.subTest(size):
                self.configure(seven(build=sh("head -c 5000000 /dev/zero; echo did > work-done"),
                                     grade=sh("echo did > graded")))
                self.write("full.sh", f"mkdir -p small && mount -t tmpfs -o size={size} none small && "
                                      f"PROFTRACE_DIR=small {PROFTRACE} pipeline > out 2> err; code=$?\n"
                                      "cp -r small/latest/. result; exit $code\n")
                done = subprocess.run(["unshare", "-rm", "sh", "full.sh"], cwd=self.work, env=self.environment(),
                                      capture_output=True, check=False)
                if b"unshare" in done.stderr or b"mount:" in done.stderr:
                    self.skipTest(f"no mounts here: {done.stderr!r}")
                said = self.read("err").decode()
                if done.returncode == 2:  # not even a beginning
                    self.assertEqual(said.count("\n"), 1, said)
                    self.assertIn("No space left on device", said)
                    self.assertFalse(os.path.exists(self.work + "/graded"))
                    continue
                for name in ("work-done", "graded"):
                    self.assertEqual(self.read(name), b"did\n")
                    os.unlink(os.path.join(self.work, name))
                self.assertEqual(len(self.read("out")), 5000000 + sum(len(f"{n} out\n") for n in NAMES if n not in
                                                                      ("build", "grade")))
                if done.returncode == 0:
                    self.assertIn("not complete: No space left on device", str(self.report("result")))
                else:
                    self.assertEqual(done.returncode, 125)  # no stage failed: decision 0013
                    self.assertIn("no report was written", said)
                    self.assertNotIn("report.html", said)
                    self.assertNotIn("skipped", said.replace("label-targets", ""))  # no table of an earlier state
                    self.assertIn("No space left on device", said)
                self.assertNotIn(".part", " ".join(os.listdir(self.work + "/result")))
                subprocess.run(["rm", "-rf", self.work + "/result"], check=True)


class Choices(PipelineCase):
    """Which stages run, and what runs at all."""

    def test_only_skip_from(self):
        def statuses(*arguments):
            outcome = self.pipeline(seven(), *arguments)
            self.assertEqual(outcome.code, 0, outcome)
            return {s["stage"]: s["reason"] for s in self.report()["stages"] if s["status"] == "skipped"}
        self.assertEqual(statuses("--only", "check,grade"), {n: "not selected (--only)" for n in NAMES if n not in
                                                             ("check", "grade")})
        self.assertEqual(statuses("--skip", "check,grade"), {n: "not selected (--skip)" for n in ("check", "grade")})
        self.assertEqual(statuses("--from", "train"), {n: "not selected (--from)" for n in NAMES[:4]})
        self.assert_markdown()

    def test_what_is_skipped_need_not_exist(self):
        outcome = self.pipeline(seven(build={"cmd": ["no-such-command"]}), "--skip", "build")
        self.assertEqual(outcome.code, 0, outcome)

    def test_dry_run(self):
        outcome = self.pipeline([RUN, {"stage": "label", "skip": "requires GUI"}], "--dry-run", "--report-dir", "profiles")
        self.assertEqual((outcome.code, outcome.stderr), (0, b""), outcome)
        self.assertIn(b"1  a      sh -c echo > ran\n", outcome.stdout)
        self.assertIn(b"2  label  skipped: requires GUI\n", outcome.stdout)
        self.assertEqual(os.listdir(self.work), ["config.json"])

    def test_nothing_to_run(self):
        outcome = self.pipeline([{"stage": "label", "skip": "requires GUI"}])
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn(b"nothing will run", outcome.stderr)
        self.assert_stages({"label": ("skipped", "requires GUI")})

    def test_switched_off(self):
        script = "echo ${LD_PRELOAD-none} ${PROFTRACE_SESSION-none}"
        outcome = self.pipeline(seven(build=sh(script)), environment={"PROFTRACE_DISABLE": "1"})
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn(b"none none\n", outcome.stdout)
        self.assertIn(b"switched off by PROFTRACE_DISABLE=1: nothing is traced, only times and samples follow", outcome.stderr)
        report = self.assert_stages({name: "ok" for name in NAMES})
        self.assertEqual(report["trace_quality"]["processes"], 0)
        self.assertIsNotNone(report["stages"][0]["cpu_percent_avg"])
        self.assert_markdown()

    def test_quiet(self):
        outcome = self.pipeline(seven(), environment={"PROFTRACE_QUIET": "1"})
        self.assertEqual(outcome.stderr, b"".join(f"{n} err\n".encode() for n in NAMES))
        self.assertTrue(os.path.exists(os.path.join(self.work, LATEST, "report.html")))

    def test_keep_temp(self):
        outcome = self.pipeline(seven(build=sh("cat {config}; echo x > `dirname {config}`/more")), "--keep-temp")
        self.assertEqual(outcome.code, 0, outcome)
        (kept,) = os.listdir(self.temporary)
        path = os.path.join(self.temporary, kept)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o700)
        self.assertIn(self.read(path + "/config.json"), outcome.stdout)
        self.assertIn(f"the temporary configuration was kept: {path}/config.json", self.report()["trace_quality"]["notes"])
        for name in os.listdir(path):
            os.unlink(os.path.join(path, name))
        os.rmdir(path)

    def test_stages_may_litter_the_temporary_directory(self):
        script = "cd `dirname {config}`; mkdir -p a/b; echo > a/b/c; ln -s / root; mkfifo fifo; chmod 0 a/b; rm config.json"
        outcome = self.pipeline(seven(build=sh(script)))
        self.assertEqual(outcome.code, 0, outcome)
        self.assertTrue(os.path.isdir("/usr"))


if __name__ == "__main__":
    unittest.main()
