# SPDX-License-Identifier: MIT
"""What stages write, on its way through pipes: daemons that write on, scripts that name their own stdout, full disks."""
import os
import shutil
import signal
import statistics
import subprocess
import time
import unittest

from pipeline_case import PipelineCase, is_alive, sh, wait_until

# It writes when the file `go` is there; any signal or error would keep `done` away.
DAEMON = "(while ! test -e go; do sleep 0.02; done; echo late && echo later >&2 && touch done) &"


class LeftOutput(PipelineCase):
    def let_go(self):
        self.write("go", "")

    def readers(self):
        """The processes that read for a stage that has ended."""
        found = []
        for pid in self.processes():
            try:
                with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                    if file.read() == "proftrace-log\n":
                        found.append(pid)
            except OSError:
                pass
        return found

    def test_a_daemon_outlives_proftrace(self):
        """Its output goes on into the log of its stage, a reader of ours does not wait for it, a later stage is not charged."""
        stages = [{"stage": "serve", **sh(DAEMON + " echo early")},
                  {"stage": "use", **sh("exec sleep 1")}]
        done = self.pipeline(stages)  # returns when nobody holds our stdout any more
        self.assertEqual((done.code, done.stdout), (0, b"early\n"), done)
        self.assertEqual(len(self.readers()), 1)
        left = self.stage("serve")["left_running"]
        self.assertTrue(left)
        self.assertFalse(set(self.readers()) & {entry["pid"] for entry in left}, left)
        self.assertEqual(self.stage("use")["left_running"], [])
        # In most samples: the daemon would be two in nearly all of them.
        processes = self.record()["stages"][1]["samples"]["processes"]
        self.assertEqual(statistics.median_low(processes), 1, processes)
        self.let_go()
        self.assertTrue(wait_until(lambda: not self.processes()), self.processes())
        self.assertEqual(self.read("proftrace.data/latest/logs/serve.log"), b"early\nlate\nlater\n")
        self.assertTrue(os.path.exists(os.path.join(self.work, "done")))

    def test_killed_with_sigkill(self):
        """As under any `| tee`: whoever writes next meets a broken pipe."""
        process = self.start([{"stage": "one", **sh("touch ready; while ! test -e go; do sleep 0.02; done; echo x")}])
        self.assertTrue(wait_until(lambda: os.path.exists(os.path.join(self.work, "ready"))))
        stage = next(pid for pid, command in self.processes().items() if command.startswith("sh -c touch ready"))
        process.kill()
        process.wait()
        self.assertTrue(is_alive(stage))
        self.let_go()
        self.assertTrue(wait_until(lambda: not is_alive(stage)))
        for name in os.listdir(self.temporary):  # nobody was there to remove it
            shutil.rmtree(os.path.join(self.temporary, name))

    def test_scripts_that_name_their_own_outputs(self):
        script = "echo 1; echo 2 > /dev/stderr; echo 3 >> /dev/stdout; echo 4 > /dev/fd/1; echo 5 >&2"
        done = self.pipeline([{"stage": "one", **sh(script)}])
        self.assertEqual((done.code, done.stdout), (0, b"1\n3\n4\n"), done)
        for number in (b"2", b"5"):
            self.assertIn(number, done.stderr.splitlines())
        self.assertEqual(sorted(self.read("proftrace.data/latest/logs/one.log")), sorted(b"1\n2\n3\n4\n5\n"))

    def test_tee_in_a_script(self):
        """tee sees the end of its input after the shell has ended: its lines are the stage's all the same."""
        script = "exec > >(tee copy.txt); until [ -e copy.txt ]; do sleep 0.02; done; echo first; echo last"
        done = self.pipeline([{"stage": "one", "cmd": ["bash", "-c", script]}])
        self.assertEqual((done.code, done.stdout), (0, b"first\nlast\n"), done)
        self.assertEqual(self.stage("one")["left_running"], [])

    def test_a_limit_on_the_size_of_files(self):
        """The log stops there with a note; the stage and our own stdout do not."""
        self.configure([{"stage": "one", **sh("head -c 3000000 /dev/zero && echo whole")}])
        shell = f"ulimit -f 400; exec {os.path.join(os.environ['PROFTRACE_BUILD'], 'proftrace')} pipeline"
        done = subprocess.run(["bash", "-c", shell], cwd=self.work, capture_output=True, check=False,
                              env=self.environment(PROFTRACE_DISABLE="1"), timeout=60)
        self.assertEqual((done.returncode, len(done.stdout)), (0, 3000006), done.stderr)
        self.assertEqual(done.stdout[-6:], b"whole\n")
        self.assertEqual(len(self.read("proftrace.data/latest/logs/one.log")), 400 * 1024)
        self.assertIn("logs/one.log is not complete: File too large", str(self.report()))

    def test_a_slow_reader_gets_everything(self):
        """He keeps neither the stage nor its measured time, and nothing that he takes late is lost."""
        script = "echo $$ > pid; head -c 3000000 /dev/zero | tr '\\0' x; touch done"
        begin = time.monotonic()
        process = self.start([{"stage": "one", **sh(script)}], stdout=subprocess.PIPE)
        self.assertTrue(wait_until(lambda: os.path.exists(os.path.join(self.work, "done"))))
        shell = int(self.read("pid"))
        self.assertTrue(wait_until(lambda: not is_alive(shell)))
        ended_s = time.monotonic() - begin
        time.sleep(1)
        n = 0
        while piece := os.read(process.stdout.fileno(), 30000):
            n += len(piece)
            time.sleep(0.002)
        self.assertEqual((n, process.wait()), (3000000, 0))
        self.assertLess(self.stage("one")["duration_s"], ended_s + 0.5, "it ended while nobody read")

    def test_a_signal_ends_the_waiting_for_a_reader(self):
        process = self.start([{"stage": "one", **sh("head -c 3000000 /dev/zero; touch done")}], stdout=subprocess.PIPE)
        self.assertTrue(wait_until(lambda: os.path.exists(os.path.join(self.work, "done"))))
        time.sleep(0.5)
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), -signal.SIGTERM)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(len(self.read("proftrace.data/latest/logs/one.log")), 3000000)


if __name__ == "__main__":
    unittest.main()
