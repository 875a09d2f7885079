# SPDX-License-Identifier: MIT
"""T39, T39b, T59: programs that close, count and overwrite descriptors; programs whose output is closed or full."""
import os
import time

from harness import FaultCase, clean_environment, run_command

BOTH = ("full", "sampled")


class DescriptorFaults(FaultCase):
    def test_t39_closers_of_everything(self):
        for way in ("loop", "closefrom", "close_range", "raw", "count", "select", "terminal"):
            with self.subTest(way=way):
                self.check(["closed_descriptors", way], modes=BOTH)

    def test_t39_daemon(self):
        environment = clean_environment()
        for mode in BOTH:
            traced = self.preload_environment(environment, mode)
            self.fresh_work()
            result = run_command([self.host("closed_descriptors"), "daemon"], self.work, traced)
            self.assertEqual((result.status, result.err), (0, b""))
            deadline = time.monotonic() + 20
            while not os.path.exists(f"{self.work}/daemon.done"):
                self.assertLess(time.monotonic(), deadline, "the daemon did not finish")
                time.sleep(0.02)
            self.check_claims(self.trace(), result.out.decode(), mode)

    def test_t39_python_close_fds(self):
        script = ("import os, subprocess\nos.closerange(3, 4096)\n"
                  "print(subprocess.run(['ls', '/proc/self/fd'], close_fds=True, capture_output=True).stdout)\n"
                  "print(sorted(os.listdir('/proc/self/fd')), os.dup(0))\n")
        self.check(["/usr/bin/python3", "-c", script], modes=BOTH)

    def test_t39b_stolen_descriptors(self):
        for way in ("low", "reopen", "race"):
            with self.subTest(way=way):
                self.check(["stolen_descriptors", way], modes=BOTH)

    def test_t39b_python_steals_descriptors(self):
        script = ("import os\nf = os.open('victim.bin', os.O_CREAT | os.O_RDWR); h = os.dup2(f, 900)\nos.close(f)\n"
                  "for i in range(3, 64): os.dup2(h, i)\n"
                  "b = [bytes(600 + i % 900) for i in range(200000)]\n"
                  "print(len(b), os.lseek(h, 0, 2))\n")
        self.check(["/usr/bin/python3", "-c", script], modes=BOTH)

    def test_t59_output_is_closed_or_full(self):
        host = self.host("steady_writer")
        for redirection in ("2>&-", "2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full 2>&1", "2>own.err"):
            with self.subTest(redirection=redirection):
                script = f"{host} 20000 {redirection}; echo ended $?; ls; cat own.err 2>/dev/null | wc -c"
                trace = self.check(["bash", "-c", script], claims=False)
                self.assertEqual(trace.lost(), 0)
                self.assertEqual(trace.calls("io_write") >= 20128, True)
