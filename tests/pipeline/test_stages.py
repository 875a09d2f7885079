# SPDX-License-Identifier: MIT
"""How stages end, and what becomes of the others."""
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from pipeline_case import NAMES, PipelineCase, is_alive, plain, python, seven, sh, wait_until

SKIPPED_AFTER_BUILD = {"fetch": "ok", "prepare": "ok", "check": "ok", "build": None,
                       **{name: ("skipped", "stage 'build'") for name in NAMES[4:]}}


class Endings(PipelineCase):
    def test_all_seven_are_fine(self):
        outcome = self.pipeline(seven())
        self.assertEqual(outcome.code, 0, outcome)
        report = self.assert_stages({name: "ok" for name in NAMES})
        self.assert_markdown()
        self.assertEqual(report["dataset"], "coco128")
        self.assertEqual(report["train_epochs"], 50)
        self.assertNotIn("coco128", self.markdown(), "no stage is told: it says nothing of this run")
        self.assertGreaterEqual(report["total_duration_s"], sum(s["duration_s"] for s in report["stages"]))
        self.assertEqual(report["failures"], [])
        self.assertEqual({p["stage"] for p in report["processes"]}, set(NAMES))
        for name in NAMES:
            self.assertEqual(self.read(f"proftrace.data/latest/logs/{name}.log"), f"{name} out\n{name} err\n".encode())

    def test_the_fourth_fails(self):
        outcome = self.pipeline(seven(build=sh("echo trying; echo 'build: no space for | tables' >&2; exit 3")))
        self.assertEqual(outcome.code, 1, outcome)
        report = self.assert_stages({**SKIPPED_AFTER_BUILD, "build": ("failed", "exit 3")})
        self.assertEqual(report["failures"], [{"stage": "build", "reason": "exit 3", "log": "logs/build.log",
                                               "log_tail": ["trying", "build: no space for | tables"]}])
        text = self.assert_markdown()
        self.assertIn("\n## Failures\n1. **build, exit 3**\n", text)
        self.assertIn("\n   ```\n   trying\n   build: no space for | tables\n   ```\n", text)
        self.assertIn(b"build finished: failed: exit 3", outcome.stderr)
        self.assertEqual(sorted(os.listdir(os.path.join(self.work, "proftrace.data/latest/logs"))),
                         ["build.log", "check.log", "fetch.log", "prepare.log"])

    def test_one_is_killed(self):
        outcome = self.pipeline(seven(build=sh("echo before; kill -9 $$")))
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_stages({**SKIPPED_AFTER_BUILD, "build": ("failed", "signal 9 (SIGKILL)")})
        self.assertEqual(self.stage("build")["exit"], "signal 9 (SIGKILL)")

    def test_one_crashes(self):
        outcome = self.pipeline(seven(build=python("import os; print('up', flush=True); os.abort()")))
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_stages({**SKIPPED_AFTER_BUILD, "build": ("failed", "signal 6 (SIGABRT)")})

    def test_the_last_lines_of_a_long_log(self):
        self.pipeline([{"stage": "a", **sh("seq 1 5000; printf 'no newline at the end'; exit 1")}])
        failure = self.report()["failures"][0]
        self.assertEqual(failure["log_tail"][-3:], ["4999", "5000", "no newline at the end"])
        self.assertLessEqual(len(failure["log_tail"]), 20)

    def test_a_file_vanishes_between_plan_and_run(self):
        self.write("tool", "#!/bin/sh\necho tool\n", 0o755)
        outcome = self.pipeline(seven(fetch=sh("rm tool"), build={"cmd": ["./tool"]}))
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_stages({**SKIPPED_AFTER_BUILD, "build": ("failed", "./tool: cannot be run: No such file")})

    def test_a_folder_vanishes_between_plan_and_run(self):
        os.mkdir(os.path.join(self.work, "there"))
        outcome = self.pipeline(seven(fetch=sh("rmdir there"), build=sh("pwd", cwd="there")))
        self.assertEqual(outcome.code, 1, outcome)
        stage = self.assert_stages({**SKIPPED_AFTER_BUILD, "build": ("failed", "cannot enter")})["stages"][3]
        self.assertEqual(stage["reason"], f"cannot enter the directory {self.work}/there: No such file or directory")

    def test_each_stage_that_started_a_static_program_has_it(self):
        """Also where another one started the same; one that was not reached started nothing."""
        self.write("static.c", "int main(void){return 0;}")
        subprocess.run(["cc", "-static", "-o", "static", "static.c"], cwd=self.work, check=True)
        static = os.path.join(self.work, "static")
        self.pipeline([{"stage": "a", "cmd": [static]}, {"stage": "b", "cmd": [static]}, {"stage": "c", **sh(f"{static}; {static}; exit 3")},
                       {"stage": "d", "cmd": [static]}])
        self.assertEqual([one["stage"] for one in self.record()["untraced"]], ["a", "b"])
        listed = [(one["exe"], one["stage"]) for one in self.report()["processes"] if not one["traced"]]
        self.assertEqual(sorted(listed), [(static, "a"), (static, "b"), (static, "c")])
        self.assertEqual(self.report()["trace_quality"]["untraced"], 3)
        of_one = json.loads(self.proftrace("report", "--stage", "b", "--format", "json").stdout)
        self.assertEqual(of_one["trace_quality"]["untraced"], 1)

    def test_a_static_program_that_could_not_be_started_is_none(self):
        """It vanished, or its loader is missing: it never ran, so nothing of it is missing."""
        self.write("static.c", "int main(void){return 0;}")
        subprocess.run(["cc", "-static", "-o", "static", "static.c"], cwd=self.work, check=True)
        subprocess.run(["cc", "-Wl,--dynamic-linker=/nowhere/ld.so", "-o", "lost", "static.c"], cwd=self.work, check=True)
        for command, before in ("./static", "rm static"), ("./lost", "true"):
            with self.subTest(command):
                outcome = self.pipeline([{"stage": "a", **sh(before)}, {"stage": "b", "cmd": [command]}])
                self.assertEqual(outcome.code, 1, outcome)
                self.assertEqual(self.record()["untraced"], [])
                self.assertEqual(self.report()["trace_quality"]["untraced"], 0)
                self.assertNotIn(command, [one["exe"] for one in self.report()["processes"]])

    def test_a_stage_closes_its_output(self):
        outcome = self.pipeline(seven(build=sh("exec >&- 2>&-; sleep 0.3; exit 0")))
        self.assertEqual(outcome.code, 0, outcome)
        self.assert_stages({name: "ok" for name in NAMES})

    def test_a_stage_is_stopped_for_a_while(self):
        outcome = self.pipeline(seven(build=sh("(for i in $(seq 100); do sleep 0.3; kill -CONT $$ || break; done) >&- 2>&- & kill -STOP $$; echo awake; kill $!")))
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(self.read("proftrace.data/latest/logs/build.log"), b"awake\n")

    def test_children_that_end_later_are_no_failure(self):
        outcome = self.pipeline(seven(build=sh("sleep 0.4 & echo $!")))
        self.assertEqual(outcome.code, 0, outcome)
        self.assert_stages({name: "ok" for name in NAMES})


class Daemon(PipelineCase):
    """A stage starts a server as shells do: in the background, in a session of its own."""

    # It goes on writing to the stage's stdout. The stage ends when everybody can know it.
    SCRIPT = """
import os, sys, time
if os.fork():
    while not os.path.exists("daemon.pid"): time.sleep(0.01)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
open("daemon.pid.new", "w").write(str(os.getpid()))
os.rename("daemon.pid.new", "daemon.pid")
for i in range(600):
    try:
        os.write(1, b"tick\\n")
    except OSError as e:
        open("trouble", "w").write(str(e))
    time.sleep(0.1)
"""

    def test_it_is_listed_and_lives(self):
        outcome = self.pipeline(seven(build={"cmd": ["/usr/bin/python3", "-c", self.SCRIPT, "server", "--port=7"]},
                                      train=sh("sleep 0.3; cat daemon.pid")))
        self.assertEqual(outcome.code, 0, outcome)
        report = self.assert_stages({name: "ok" for name in NAMES})
        pid = int(self.read("daemon.pid"))
        self.assertTrue(is_alive(pid))
        for stage in report["stages"]:
            self.assertEqual([left["pid"] for left in stage.get("left_running", [])],
                             [pid] if stage["stage"] == "build" else [], stage["stage"])
        left = self.record()["stages"][3]["left_running"][0]
        self.assertEqual(left["pid"], pid)
        self.assertTrue(left["command"].endswith("server --port=7"), left)
        self.assertTrue(any("still running" in note for note in report["trace_quality"]["notes"]))
        # It writes into the log when everybody else is gone, and nobody keeps our stdout open for that.
        size = len(self.read("proftrace.data/latest/logs/build.log"))
        self.assertTrue(wait_until(lambda: len(self.read("proftrace.data/latest/logs/build.log")) > size + 10))
        self.assertFalse(os.path.exists(os.path.join(self.work, "trouble")))
        os.kill(pid, signal.SIGKILL)

    def test_a_later_failure_does_not_end_it(self):
        outcome = self.pipeline(seven(build={"cmd": ["/usr/bin/python3", "-c", self.SCRIPT]},
                                      train=sh("sleep 30", timeout_s=1)))
        self.assertEqual(outcome.code, 1, outcome)
        pid = int(self.read("daemon.pid"))
        time.sleep(0.2)
        self.assertTrue(is_alive(pid))
        os.kill(pid, signal.SIGKILL)


class Surroundings(PipelineCase):
    """What a stage finds around itself."""

    def test_options_of_one_stage(self):
        """Its own way to record the heap wins over that of all; its name is the one that it has."""
        said = self.pipeline([{"stage": "a", **sh("echo $PROFTRACE_HEAP $PROFTRACE_STAGE"), "env": {"PROFTRACE_HEAP": "full", "PROFTRACE_STAGE": "other"}},
                              {"stage": "b", **sh("echo $PROFTRACE_HEAP $PROFTRACE_STAGE")}], config={"profile": {"heap": "off"}})
        self.assertEqual(said.stdout, b"full a\noff b\n")
        self.assertIn(b"profile.stages[0].env.PROFTRACE_STAGE has no effect: the stage is called 'a'; change its name\n", said.stderr)

    def test_environment_and_folder(self):
        os.makedirs(os.path.join(self.work, "sub/bin"))
        self.write("sub/bin/only-here", "#!/bin/sh\necho found in `pwd`: $WORD\n", 0o755)
        path = os.path.join(self.work, "sub/bin") + ":" + os.environ["PATH"]
        outcome = self.pipeline([{"stage": "a", "cmd": ["only-here"], "cwd": "sub",
                                  "env": {"PATH": path, "WORD": "a=b c", "EMPTY": ""}},
                                 {"stage": "b", **sh("echo ${WORD-unset}; pwd")}])
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.stdout.decode(), f"found in {self.work}/sub: a=b c\nunset\n{self.work}\n")

    def test_an_interpreter_that_is_relative_is_of_the_stages_folder(self):
        """As `#!./venv/bin/python` is: the kernel looks for it where the stage runs, and so do we."""
        os.makedirs(os.path.join(self.work, "sub/bin"))
        self.write("sub/bin/own", '#!/bin/sh\nexec /bin/sh "$@"\n', 0o755)
        self.write("sub/train", "#!./bin/own\necho trained\n", 0o755)
        self.write("sub/lost", "#!./bin/nowhere\n", 0o755)
        outcome = self.pipeline([{"stage": "a", "cmd": ["./train"], "cwd": "sub"}])
        self.assertEqual((outcome.code, outcome.stdout), (0, b"trained\n"), outcome)
        outcome = self.pipeline([{"stage": "a", "cmd": ["./lost"], "cwd": "sub"}])
        self.assertEqual(outcome.code, 2, outcome)
        self.assertIn(b"/sub/./lost: its interpreter ./bin/nowhere cannot be run: No such file or directory", outcome.stderr)

    def test_the_command_is_found_as_it_will_be_called(self):
        """In the folder of the stage, and with its name filled in."""
        os.makedirs(os.path.join(self.work, "sub/bin"))
        self.write("sub/bin/only-here", "#!/bin/sh\necho found\n", 0o755)
        self.write("train-coco32.sh", "#!/bin/sh\necho $0 $1\n", 0o755)
        outcome = self.pipeline([{"stage": "a", "cmd": ["only-here"], "cwd": "sub", "env": {"PATH": "bin:" + os.environ["PATH"]}},
                                 {"stage": "b", "cmd": ["./train-{dataset}.sh", "{epochs}"]}], "--dataset", "coco32", "--train-epochs", "7")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.stdout, b"found\n./train-coco32.sh 7\n")
        os.makedirs(os.path.join(self.work, "bin"))
        self.write("bin/not-there", "#!/bin/sh\n", 0o755)
        outcome = self.pipeline([{"stage": "a", "cmd": ["not-there"], "cwd": "sub", "env": {"PATH": "bin:" + os.environ["PATH"]}}])
        self.assertEqual(outcome.code, 2, outcome)
        self.assertIn(b"not-there: no such command in PATH", outcome.stderr)

    def test_each_gives_back_what_it_opened(self):
        """Many stages, few descriptors: the samplers of those that are over hold none."""
        outcome = self.pipeline([{"stage": f"s{i}", "cmd": ["true"]} for i in range(60)],
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128)))
        self.assertEqual(outcome.code, 0, outcome)

    def test_tokens(self):
        script = "import sys, os, json; print(json.dumps([sys.argv[1:], os.environ['PIPELINE_CONFIG']," \
                 "os.environ['PROFTRACE_PIPELINE_CONFIG'], json.load(open(sys.argv[1]))]))"
        outcome = self.pipeline([{"stage": "a", **python(script, "{config}", "--data={dataset}", "{epochs}x", "{report_dir}",
                                                         "{other}", "{}", "{{config}}")}],
                                "--dataset", "coco32", "--train-epochs", "7",
                                config={"paths": {"data": "data", "s3": "s3://bucket/x"}, "train": {"epochs": 300, "lr": 0.1}})
        self.assertEqual(outcome.code, 0, outcome)
        argv, first, second, config = json.loads(outcome.stdout)
        self.assertTrue(argv[0].startswith(self.temporary + "/"), argv)
        self.assertEqual(first, argv[0])
        self.assertEqual(second, argv[0])
        run = os.path.realpath(os.path.join(self.work, "proftrace.data/latest"))
        self.assertEqual(argv[1:], ["--data=coco32", "7x", run, "{other}", "{}", "{" + argv[0] + "}"])
        self.assertEqual(config["paths"], {"data": os.path.join(self.work, "data"), "s3": "s3://bucket/x"})
        self.assertEqual(config["run"], {"dataset": "coco32"})
        self.assertEqual(config["train"], {"epochs": 7, "lr": 0.1, "wandb_enabled": False})
        self.assertEqual(self.report()["dataset"], "coco32")
        self.assertIn("coco32", self.markdown())

    def test_stdin_and_signals_are_as_without_us(self):
        script = "import signal, sys; print(sys.stdin.read(), [s.name for s in signal.pthread_sigmask(0, [])]," \
                 "[s.name for s in signal.valid_signals() if signal.getsignal(s) == signal.SIG_IGN])"
        stages = [{"stage": "a", **python(script)}]
        outcome = self.pipeline(stages, input=b"words")
        self.assertEqual((outcome.stdout, b""), (self.by_hand(stages, input=b"words")[0], b""), outcome)

    def test_descriptors_are_those_of_a_plain_start(self):
        stages = [{"stage": "a", **sh("ls /proc/self/fd")}]
        outcome = self.pipeline(stages)
        self.assertEqual(outcome.stdout, self.by_hand(stages)[0])


if __name__ == "__main__":
    unittest.main()
