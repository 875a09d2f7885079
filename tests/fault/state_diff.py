# SPDX-License-Identifier: MIT
"""The state-diff test: all that a program can find out about itself is the same with and without the library (T16 too)."""
import os
import resource
import signal

from harness import FaultCase, SETTINGS

BOTH = ("full", "sampled", "off")


class StateDiff(FaultCase):
    def test_plain(self):
        self.check(["state_dump"], modes=BOTH)

    def test_with_a_strange_inheritance(self):
        """Blocked and ignored signals, a small stack and few descriptors, a umask, timers, a nice value from the parent."""
        def strange():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGXFSZ, signal.SIGCHLD})
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            os.umask(0o077)
            os.nice(3)
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.kill(os.getpid(), signal.SIGUSR2)
            os.kill(os.getpid(), signal.SIGXFSZ)
        self.check(["state_dump"], modes=BOTH, before_exec=strange)

    def test_disabled(self):
        if SETTINGS.baseline:
            self.skipTest("baseline")
        trace = self.check(["state_dump"], options={"disable": 1}, claims=False)
        self.assertIsNone(trace)
        trace = self.check(["state_dump"], env={"ENABLE_PROFILING": "false"}, claims=False)
        self.assertIsNone(trace)
