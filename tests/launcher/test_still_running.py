# SPDX-License-Identifier: MIT
"""A run that is still going on is told apart from one whose processes were killed."""
import json
import os
import shutil
import subprocess
import sys
import time
import unittest

from launcher_case import LIBRARY, PROFTRACE, LauncherCase, clean_environment


class StillRunning(LauncherCase):
    def ends(self):
        info = self.proftrace("info", "run", "--json")
        self.assertEqual(info.returncode, 0, info.stderr)
        report = self.proftrace("report", "run", "--format", "json")
        self.assertEqual(report.returncode, 0, report.stderr)
        document, report = json.loads(info.stdout), json.loads(report.stdout)
        notes = [note for note in report["trace_quality"]["notes"] if "still running" in note]
        return document["processes"][-1]["exit"], report["processes"][-1]["exit"], notes

    def is_recorded(self):
        info = self.proftrace("info", "run", "--json")
        return info.returncode == 0 and json.loads(info.stdout)["processes"]

    def test_alive_then_killed(self):
        os.mkdir(os.path.join(self.folder, "run"), 0o700)
        environment = clean_environment(LD_PRELOAD=LIBRARY, PROFTRACE_SESSION=os.path.join(self.folder, "run"))
        process = subprocess.Popen(["/bin/sh", "-c", "read line; read line"], cwd=self.folder, env=environment, stdin=subprocess.PIPE)
        self.addCleanup(self.end, process)
        process.stdin.write(b"begin\n")
        process.stdin.flush()
        self.wait_for(self.is_recorded)
        self.assertEqual(self.ends(), ("still running", "still running",
                                       ["1 process is still running: this is what was recorded until now"]))
        self.assertIn(b"still running", self.proftrace("info", "run").stdout)
        process.kill()
        process.wait()
        self.assertEqual(self.ends(), (None, None, []))
        self.assertIn(b"no end seen", self.proftrace("info", "run").stdout)

    def test_in_a_container(self):
        """Its pids are others' outside: a run.json that was just written says that it goes on."""
        inside = ("unshare", "-rpf", "--mount-proc")
        if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no namespaces here")
        program = "for _ in range(1000): open('/dev/null').close()\nprint('ready', flush=True)\nimport sys; sys.stdin.read()"
        process = subprocess.Popen([*inside, PROFTRACE, "run", "--no-report", "-o", "run", "--", sys.executable, "-c", program],
                                   cwd=self.folder, env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, process)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        report = json.loads(self.proftrace("report", "run", "--format", "json").stdout)
        self.assertEqual(report["stages"][0]["status"], "running")
        self.assertNotIn("killed", json.dumps(report["processes"]))
        # A copy is new: of a run whose launcher was killed, "running" is what it was when run.json was written.
        shutil.copytree(os.path.join(self.folder, "run"), os.path.join(self.folder, "copy"))
        copied = os.path.join(self.folder, "copy", "run.json")
        with open(copied, encoding="utf-8") as file:
            record = json.load(file)
        self.assertLess(abs(record["written_realtime_ns"] / 1e9 - time.time()), 50)
        for ago_s, status in ((0, "running"), (1000, "failed")):
            record["written_realtime_ns"] -= ago_s * 10 ** 9
            with open(copied, "w", encoding="utf-8") as file:
                json.dump(record, file)
            self.assertEqual(json.loads(self.proftrace("report", "copy", "--format", "json").stdout)["stages"][0]["status"], status)
        long_ago = time.time() - 1000
        os.utime(os.path.join(self.folder, "run", "run.json"), (long_ago, long_ago))
        self.assertEqual(json.loads(self.proftrace("report", "run", "--format", "json").stdout)["stages"][0]["status"], "failed")
        process.stdin.close()
        process.wait(60)
        self.assertEqual(json.loads(self.proftrace("report", "run", "--format", "json").stdout)["stages"][0]["status"], "ok")

    def test_in_a_container_without_a_launcher(self):
        """Its pid is another's outside, or nobody's: it "failed" while it ran."""
        inside = ("unshare", "-rpf", "--kill-child", "--mount-proc")
        if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no namespaces here")
        os.mkdir(os.path.join(self.folder, "run"), 0o700)
        environment = ["env", f"LD_PRELOAD={LIBRARY}", f"PROFTRACE_SESSION={self.folder}/run"]
        program = "for _ in range(1000): open('/dev/null').close()\nprint('ready', flush=True)\nimport sys; sys.stdin.read()"
        process = subprocess.Popen([*inside, *environment, sys.executable, "-c", program], cwd=self.folder, env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end, process)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        words = "it may go on in a container or on another machine"
        report = json.loads(self.proftrace("report", "run", "--format", "json").stdout)
        self.assertEqual(report["stages"][0]["status"], "running")
        self.assertTrue(report["stages"][0]["reason"].startswith(words))
        self.assertEqual(report["processes"][0]["exit_reason"], words)
        self.assertIn("1 process may go on in a container", "".join(report["trace_quality"]["notes"]))
        process.kill()
        process.wait(60)
        def has_failed():
            report = json.loads(self.proftrace("report", "run", "--format", "json").stdout)
            return report["stages"][0]["status"] == "failed" and "may go on" not in json.dumps(report)
        self.wait_for(has_failed)

    def test_what_no_longer_runs_in_a_container(self):
        """To another user than root each container had it mapped, perhaps: what was killed ran on."""
        inside = ("unshare", "-rpf", "--kill-child", "--mount-proc")
        if os.geteuid() or subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
            self.skipTest("needs root and namespaces")
        environment = clean_environment(PROFTRACE_DIR=os.path.join(self.folder, "proftrace.data"))
        process = subprocess.Popen([*inside, "env", f"LD_PRELOAD={LIBRARY}", "sh", "-c", "echo ready; read line"],
                                   cwd=self.folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        with process.stdout:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            process.kill()
            process.stdout.read()
        process.wait(60)
        other = subprocess.Popen([*inside, "sleep", "100"])
        self.addCleanup(self.end, other)
        os.rename(os.path.realpath(os.path.join(self.folder, "proftrace.data", "latest")), os.path.join(self.folder, "run"))
        subprocess.run(["chown", "-R", "65534:65534", self.folder], check=True)
        try:
            seen = subprocess.run([PROFTRACE, "report", "run", "--format", "json"], cwd=self.folder, env=clean_environment(), capture_output=True, check=False, user=65534)
        except PermissionError:
            self.skipTest("others may not start the program")
        self.assertEqual(json.loads(seen.stdout)["stages"][0]["status"], "failed", seen.stderr)
        self.assertNotIn(b"may go on", seen.stdout)

    def under_another_path(self, *command):
        """Its pids are ours, as in Apptainer."""
        os.mkdir(os.path.join(self.folder, "run"), 0o700)
        os.mkdir(os.path.join(self.folder, "inside"))
        script = 'mount --bind run inside && exec env "$@"'
        if subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", "true"], cwd=self.folder, capture_output=True, check=False).returncode:
            self.skipTest("no namespaces here")
        process = subprocess.Popen(["unshare", "-rm", "sh", "-c", script, "sh", f"LD_PRELOAD={LIBRARY}", f"PROFTRACE_SESSION={self.folder}/inside", *command],
                                   cwd=self.folder, env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end, process)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        def status():
            return json.loads(self.proftrace("report", "run", "--format", "json").stdout)["stages"][0]["status"]
        self.assertEqual(status(), "running")
        process.kill()
        process.wait(60)
        self.wait_for(lambda: status() == "failed")

    def test_under_another_path(self):
        """It "failed" while it ran."""
        self.under_another_path(sys.executable, "-c", "for _ in range(1000): open('/dev/null').close()\nprint('ready', flush=True)\nimport sys; sys.stdin.read()")

    def test_under_another_path_with_a_main_thread_that_has_ended(self):
        self.under_another_path(self.compile("""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *work(void *main_thread)
{
    char byte;
    pthread_join(*(pthread_t *)main_thread, NULL);
    puts("ready");
    fflush(stdout);
    return read(0, &byte, 1) < 0 ? main_thread : NULL;
}
int main(void)
{
    static pthread_t self, other;
    self = pthread_self();
    pthread_create(&other, NULL, work, &self);
    pthread_exit(NULL);
}
""", "-pthread"))

    def as_of_another_machine(self, run):
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot_id = file.read(36)
        shutil.copytree(run, os.path.join(self.folder, "run"))
        for name in os.listdir(os.path.join(self.folder, "run")):
            with open(os.path.join(self.folder, "run", name), "r+b") as file:
                content = file.read()
                file.seek(0)
                file.write(content.replace(boot_id, b"x" * len(boot_id)))

    def test_on_another_machine_without_a_launcher(self):
        process = subprocess.Popen(["/bin/sh", "-c", "read line"], cwd=self.folder, env=clean_environment(LD_PRELOAD=LIBRARY), stdin=subprocess.PIPE)
        self.addCleanup(self.end, process)
        self.wait_for(lambda: self.proftrace("info").returncode == 0)
        self.as_of_another_machine(os.path.realpath(os.path.join(self.folder, "proftrace.data", "latest")))
        stage = json.loads(self.proftrace("report", "run", "--format", "json").stdout)["stages"][0]
        self.assertEqual((stage["status"], stage["reason"][:45]), ("running", "it may go on in a container or on another mac"))

    def test_one_that_was_killed_on_another_machine(self):
        """Its parent saw the end: it "may go on" all the same."""
        program = "sleep 100 & sleep 0.3; kill -9 $!; wait; read line"
        process = subprocess.Popen(["/bin/sh", "-c", program], cwd=self.folder, env=clean_environment(LD_PRELOAD=LIBRARY), stdin=subprocess.PIPE)
        process.communicate(b"\n", timeout=60)
        self.as_of_another_machine(os.path.realpath(os.path.join(self.folder, "proftrace.data", "latest")))
        report = json.loads(self.proftrace("report", "run", "--format", "json").stdout)
        self.assertIn("signal 9", json.dumps([one["exit"] for one in report["processes"]]))
        self.assertNotIn("may go on", json.dumps(report))

    def test_cpu_time_before_its_launcher_noted_any(self):
        """Of a stage that still runs, and of one whose launcher was killed, it is what the program noted."""
        program = ("import sys, time\nend = time.process_time() + 0.5\n"
                   "while time.process_time() < end: open('/dev/null').close()\nprint(flush=True); sys.stdin.read()")
        process = self.start_it(sys.executable, "-c", program, stdin=-1, stdout=-1, stderr=-1)
        process.stdout.readline()
        first = self.record()
        self.assertEqual([first[key] for key in ("cpu_s", "cpu_percent_avg", "rss_max_bytes")], [None] * 3)
        for end in (None, process.kill):
            if end:
                end()
                process.wait()
            stage = json.loads(self.proftrace("report", "--format", "json").stdout)["stages"][0]
            self.assertGreater(stage["cpu_s"], 0.3)
            self.assertAlmostEqual(stage["cpu_percent_avg"], 100 * stage["cpu_s"] / stage["duration_s"], delta=1)

    def test_a_shell_waits_for_what_it_has_started(self):
        """The call in which it waits is in no trace before it ends."""
        program = "import time\nprint(flush=True)\nfor _ in range(300): time.sleep(0.01)"
        process = self.start_it("/bin/sh", "-c", '"$0" -c "$1"; true', sys.executable, program, stdout=-1, stderr=-1)
        process.stdout.readline()
        time.sleep(1.5)
        spent = json.loads(self.proftrace("report", "--format", "json").stdout)["stages"][0]["time"]
        self.assertIsNone(process.poll())
        self.assertGreater(spent["sleep_s"], 0.7)
        self.assertLess(spent["unattributed_s"], 0.3 * spent["wall_s"])
        self.assertEqual(process.wait(60), 0)


if __name__ == "__main__":
    unittest.main()
