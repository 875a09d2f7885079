# SPDX-License-Identifier: MIT
"""A stage that runs for too long ends with everything that it started, and nothing else does."""
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

from pipeline_case import BUILD, LATEST, NAMES, PipelineCase, is_alive, python, seven, sh, wait_until

# children: one deaf, one in another session, one stopped, one whose parent is gone; they note their pids.
TREE = """
import os, signal, sys, time
def child(*prepare):
    pid = os.fork()
    if pid == 0:
        for step in prepare:
            step()
        open("pids", "a").write("%d\\n" % os.getpid())
        time.sleep(60)
        os._exit(0)
def deaf():
    for number in (1, 2, 3, 15):
        signal.signal(number, signal.SIG_IGN)
def orphan():
    if os.fork():
        os._exit(0)
child(deaf)
child(deaf, os.setsid, orphan)
child(os.setsid)
child(orphan)
child(lambda: (open("pids", "a").write("%d\\n" % os.getpid()), os.kill(os.getpid(), signal.SIGSTOP)))
print("tree", flush=True)
time.sleep(60)
"""


class Timeouts(PipelineCase):
    SKIPPED = {name: ("skipped", "stage 'build' timed out") for name in NAMES[4:]}

    def assert_timed_out(self, outcome, reason):
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_stages({**{n: "ok" for n in NAMES[:3]}, "build": ("timeout", reason), **self.SKIPPED})
        self.assertIn("| timeout |", self.assert_markdown())

    def test_one_hangs(self):
        outcome = self.pipeline(seven(build=sh("echo so far; sleep 60", timeout_s=0.9)))
        self.assert_timed_out(outcome, "still running after 900 ms: it was ended")
        self.assertNotIn("killed", self.stage("build")["reason"])
        self.assertEqual(self.report()["failures"][0]["log_tail"], ["so far"])
        self.assertEqual(self.stage("build")["exit"], "signal 15 (SIGTERM)")
        self.assertLess(self.stage("build")["duration_s"], 5)

    def test_the_whole_tree(self):
        bystander = subprocess.Popen(["sleep", "60"])
        self.addCleanup(bystander.wait)
        self.addCleanup(bystander.kill)
        outcome = self.pipeline(seven(build=python(TREE, timeout_s=3)))
        self.assert_timed_out(outcome, "; not all of its processes ended when asked, and were killed")
        pids = {int(line) for line in self.read("pids").split()}
        self.assertEqual(len(pids), 5)
        self.assertEqual([pid for pid in pids if is_alive(pid)], [])
        self.assertTrue(is_alive(bystander.pid))
        # The command ends at once when asked; the deaf take their grace: no second of the run is nobody's.
        build, report = self.stage("build"), self.report()
        self.assertGreater(build["stop_s"], 3)
        self.assertLess(build["duration_s"], 3 + 2)
        told = re.search(r"; until they were gone it took another ([\d.]+) s; process \d+ .* sleeps? .* in <module> ", build["reason"])
        self.assertIsNotNone(told, build["reason"])
        self.assertAlmostEqual(float(told[1]), build["stop_s"], delta=0.01)
        self.assertIn(f"finished: timeout: {build['reason']}, {build['duration_s']:.1f} s\n", outcome.stderr.decode())
        spent_s = sum(stage["duration_s"] or 0 for stage in report["stages"]) + build["stop_s"]
        self.assertAlmostEqual(report["total_duration_s"], spent_s, delta=3)
        self.assertNotIn("stop_s", self.stage("fetch"))

    def test_it_may_clean_up(self):
        outcome = self.pipeline(seven(build=sh("trap 'sleep 0.3; echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done",
                                               timeout_s=0.9)))
        self.assert_timed_out(outcome, "still running after 900 ms")
        log = self.read(f"{LATEST}/logs/build.log")
        self.assertTrue(log.startswith(b"up\n") and log.endswith(b"bye\n"), log)  # the shell may tell of its child
        self.assertEqual(self.stage("build")["exit"], "exit 0")

    def test_who_ends_in_time_is_fine(self):
        outcome = self.pipeline(seven(build=sh("sleep 0.3", timeout_s=30)))
        self.assertEqual(outcome.code, 0, outcome)

    def test_the_shortest(self):
        outcome = self.pipeline(seven(build=sh("sleep 60", timeout_s=0.001)))
        self.assert_timed_out(outcome, "still running after 1")

    def test_a_stopped_stage(self):
        outcome = self.pipeline(seven(build=sh("kill -STOP $$; sleep 60", timeout_s=0.5)))
        self.assert_timed_out(outcome, "still running after 500 ms")


class WhatCannotBeDone(PipelineCase):
    def test_more_processes_than_we_may_open(self):
        """Whoever has no descriptor left must not take a process for gone, or leave it alone."""
        outcome = self.pipeline([{"stage": "many", **sh("for i in $(seq 150); do sleep 60 & done; wait", timeout_s=2)}],
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_stages({"many": ("timeout", "still running after 2.00 s: it was ended")})
        self.assertLess(self.stage("many")["duration_s"], 30)

    def test_the_main_thread_has_ended(self):
        """The kernel calls such a process a zombie, and its other threads go on."""
        self.write("exits.c", "#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\nstatic void *work(void *none)\n{\n    sleep(60);\n    return none;\n}\n"
                              "int main(void)\n{\n    pthread_t thread;\n    FILE *file = fopen(\"pid\", \"w\");\n    fprintf(file, \"%d\", getpid());\n    fclose(file);\n"
                              "    pthread_create(&thread, NULL, work, NULL);\n    pthread_exit(NULL);\n}\n")
        program = os.path.join(self.work, "exits")
        subprocess.run(["cc", "-pthread", "-o", program, program + ".c"], check=True)
        outcome = self.pipeline([{"stage": "exits", "cmd": [program], "timeout_s": 1}])
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_stages({"exits": ("timeout", "still running after 1.00 s: it was ended")})
        self.assertEqual(self.stage("exits")["exit"], "signal 15 (SIGTERM)")
        self.assertFalse(os.path.exists(f"/proc/{int(self.read('pid'))}"))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv") and shutil.which("unshare"), "needs root, setpriv and unshare")
    def test_a_command_that_proc_does_not_show(self):
        """Under hidepid a program that has gained a capability: it is asked before it is killed, as each is."""
        self.write("hidden.c", "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n"
                               "static void end(int number)\n{\n    (void)number;\n    _exit(write(1, \"bye\\n\", 4) != 4);\n}\n"
                               "int main(int n, char **words)\n{\n    (void)words;\n    signal(SIGTERM, n > 1 ? SIG_IGN : end);\n    puts(\"up\");\n    fflush(stdout);\n"
                               "    for (;;)\n        pause();\n}\n")
        hidden = os.path.join(self.work, "hidden")
        subprocess.run(["cc", "-o", hidden, hidden + ".c"], check=True)
        for folder in self.folder, self.work, self.temporary:
            os.chown(folder, 65534, 65534)
        for name in "proftrace", "libproftrace.so":
            shutil.copy(os.path.join(BUILD, name), self.folder)
        version_2, effective, net_bind_service = 0x02000000, 1, 1 << 10
        try:
            os.setxattr(hidden, "security.capability", struct.pack("<5I", version_2 | effective, net_bind_service, 0, 0, 0))
        except OSError:
            self.skipTest("no capabilities of files here")
        within, as_user = ("unshare", "-m", "-p", "-f", "sh", "-c"), "exec setpriv --reuid 65534 --regid 65534 --clear-groups"
        mount = "mount -t proc -o hidepid=2 proc /proc || exit 77"
        # Where capabilities of files have no effect (nosuid, no_new_privs), /proc shows the program, and this would test nothing.
        look = "\"$0\" >up & until grep -qs up up; do kill -0 $! || exit 1; sleep 0.01; done; ! [ -e /proc/$! ]; shown=$?; kill -9 $!; exit $shown"
        tried = subprocess.run([*within, f"{mount}; {as_user} sh -c '{look}' \"$0\"", hidden], cwd=self.work, capture_output=True, text=True, check=False, timeout=100)
        if tried.returncode:
            self.skipTest(f"/proc can hide no program here: {tried.stderr.strip() or 'capabilities of files have no effect'}")
        script = f"{mount}; {as_user} {self.folder}/proftrace pipeline"
        for words, exits, said, killed, least_s in ([], "exit 0", b"up\nbye\n", "", 0), (["deaf"], "signal 9 (SIGKILL)", b"up\n", "; not all of its processes ended when asked, and were killed", 5):
            self.configure([{"stage": "hidden", "cmd": [hidden, *words], "timeout_s": 1}])
            begin = time.monotonic()
            done = subprocess.run([*within, script], cwd=self.work, env=self.environment(), capture_output=True, check=False, timeout=100)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual((self.stage("hidden")["exit"], self.read(f"{LATEST}/logs/hidden.log")), (exits, said))
            reason = "still running after 1.00 s: it was ended" + killed
            self.assertTrue(self.stage("hidden")["reason"].startswith(reason), self.stage("hidden")["reason"])
            self.assertGreater(time.monotonic() - begin, 1 + least_s)
            self.assertEqual("killed" in self.stage("hidden")["reason"], bool(killed))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
    def test_a_command_of_another_user(self):
        """A stage that may not be ended is given up, and said to be."""
        self.write("deaf.c", "#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n    FILE *file = fopen(\"pid\", \"w\");\n"
                             "    fprintf(file, \"%d\", getpid());\n    fclose(file);\n    return setuid(0) || sleep(100);\n}\n")
        deaf = os.path.join(self.work, "deaf")
        subprocess.run(["cc", "-o", deaf, deaf + ".c"], check=True)
        os.chmod(deaf, 0o4755)
        for path in self.folder, self.work, self.temporary:
            os.chmod(path, 0o777)
        programs = os.path.join(self.folder, "bin")
        os.mkdir(programs)
        for name in "proftrace", "libproftrace.so":
            shutil.copy(os.path.join(BUILD, name), programs)
        self.configure([{"stage": "deaf", "cmd": [deaf], "timeout_s": 0.5}, {"stage": "next", **sh("echo next")}])
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", os.path.join(programs, "proftrace"), "pipeline"]
        began = time.monotonic()
        done = subprocess.run(command, cwd=self.work, env=self.environment(), capture_output=True, timeout=90, check=False)
        pid = int(self.read("pid"))
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        if os.stat(f"/proc/{pid}").st_uid:
            self.skipTest("this file system knows no set-user-ID")
        self.assertEqual(done.returncode, 1, done)
        self.assertLess(time.monotonic() - began, 60)
        self.assert_stages({"deaf": ("timeout", "still running after 500 ms: it was ended; 1 process could not be ended"),
                            "next": ("skipped", "stage 'deaf'")})
        self.assertIsNone(self.stage("deaf")["exit"])
        os.kill(pid, signal.SIGKILL)
        self._cleanups.remove((os.kill, (pid, signal.SIGKILL), {}))


class PostMortem(PipelineCase):
    """We are killed ourselves. Nobody can tidy up then, but what was known stays."""

    def tearDown(self):
        self.end_all()
        for name in os.listdir(self.temporary):
            for file in os.listdir(os.path.join(self.temporary, name)):
                os.unlink(os.path.join(self.temporary, name, file))
            os.rmdir(os.path.join(self.temporary, name))
        super().tearDown()

    def test_killed_in_the_fourth_stage(self):
        process = self.start(seven(build=python("import os, time\nopen('up', 'w')\nos.stat('/')\ntime.sleep(60)")),
                             config={"profile": {"interval_ms": 200}})
        # What is known is written every ten seconds.
        self.assertTrue(wait_until(lambda: os.path.exists(os.path.join(self.work, "up")), 60))
        self.assertTrue(wait_until(lambda: (self.record()["stages"][3]["duration_ns"] or 0) > 9e9, 60))
        process.send_signal(signal.SIGKILL)
        process.wait()
        record = self.record()
        self.assertIsNone(record["duration_ns"])
        build = record["stages"][3]
        self.assertIsNone(build["status"])
        self.assertIsNone(build["exit"])
        self.assertEqual(build["command"][0], "/usr/bin/python3")
        self.assertGreater(build["duration_ns"], 9e9)
        self.assertGreater(len(build["samples"]["t_ns"]), 20)
        self.assertGreater(build["resources"]["rss_bytes"]["max"], 1 << 20)
        outcome = self.proftrace("report", LATEST, "--format", "json", "-o", f"{LATEST}/report.json")
        self.assertEqual(outcome.code, 0, outcome)
        report = self.assert_stages({**{n: "ok" for n in NAMES[:3]}, "build": ("running", "still running"),
                                     **{n: ("skipped", "not reached") for n in NAMES[4:]}})
        self.assertIsNone(report["stages"][3]["exit"])  # nobody has ended it
        self.assertGreater(report["stages"][3]["duration_s"], 9)
        self.assertGreater(report["stages"][3]["rss_mb_max"], 1)
        self.assertGreater(report["total_duration_s"], 5)
        outcome = self.proftrace("report", LATEST, "--format", "md", "-o", f"{LATEST}/report.md")
        self.assertEqual(outcome.code, 0, outcome)
        self.assert_markdown()

    def test_killed_at_once(self):
        process = self.start(seven(fetch=sh("echo > up; sleep 60")))
        while not os.path.exists(os.path.join(self.work, "up")):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(self.record()["stages"][0]["command"][:2], ["sh", "-c"])
        for status, reason in (("running", "still running"), ("failed", "killed or crashed")):
            outcome = self.proftrace("report", LATEST, "--format", "json", "-o", f"{LATEST}/report.json")
            self.assertEqual(outcome.code, 0, outcome)
            self.assert_stages({"fetch": (status, reason), **{n: ("skipped", "not reached") for n in NAMES[1:]}})
            self.end_all()
            self.assertTrue(wait_until(lambda: not self.processes()))

    def test_what_a_killed_one_left_is_removed_later(self):
        """Not while the stage that outlived it may read it, nor what was kept on purpose, nor what is somebody else's."""
        self.pipeline(seven(), "--keep-temp")
        os.mkdir(os.path.join(self.temporary, "proftrace-pipeline-abcdef"), 0o700)
        os.mkdir(os.path.join(self.temporary, "other"), 0o700)
        others = set(os.listdir(self.temporary))
        process = self.start(seven(fetch=sh("echo > up; sleep 60")))
        self.assertTrue(wait_until(lambda: os.path.exists(os.path.join(self.work, "up"))))
        left = set(os.listdir(self.temporary)) - others
        self.assertEqual(len(left), 1)
        self.pipeline(seven())
        self.assertEqual(set(os.listdir(self.temporary)), others | left, "its launcher lives")
        process.send_signal(signal.SIGKILL)
        process.wait()
        for written in self.temporary, f"{self.temporary}/", f"{os.path.dirname(self.temporary)}//{os.path.basename(self.temporary)}":
            self.pipeline(seven(), environment={"TMPDIR": written})
            self.assertEqual(set(os.listdir(self.temporary)), others | left, "its stage lives")
        self.end_all()
        self.assertTrue(wait_until(lambda: not self.processes()))
        self.pipeline(seven())
        self.assertEqual(set(os.listdir(self.temporary)), others)


if __name__ == "__main__":
    unittest.main()
