# SPDX-License-Identifier: MIT
"""Signals reach the traced command, each as often as they would without us."""
import os
import pty
import select
import signal
import sys
import time
import unittest

from launcher_case import PROFTRACE, LauncherCase, clean_environment

# Prints each signal it gets; ends with code 40 at the second SIGTERM or after 20 s.
LISTENER = r"""
import os, signal, sys, time
terms = 0
def seen(number, frame):
    global terms
    os.write(1, (f"SIGRTMIN+{number - signal.SIGRTMIN}\n" if number > signal.SIGRTMIN else signal.Signals(number).name + "\n").encode())
    terms += number == signal.SIGTERM
for number in (1, 2, 3, 10, 12, 15, 28, 18, 21, 22, signal.SIGRTMIN + 3):
    signal.signal(number, seen)
os.write(1, b"ready\n")
end = time.time() + 20
while time.time() < end and terms < 2:
    time.sleep(0.02)
sys.exit(40)
"""


class Signals(LauncherCase):
    def listener(self, **options):
        process = self.start_it(sys.executable, "-c", LISTENER, stdout=-1, stderr=-1, **options)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def test_each_is_forwarded_once(self):
        process = self.listener()
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH,
                       signal.SIGCONT, signal.SIGTTIN, signal.SIGTTOU):
            process.send_signal(number)
            self.assertEqual(process.stdout.readline().decode().strip(), number.name)
        process.send_signal(signal.SIGRTMIN + 3)
        self.assertEqual(process.stdout.readline(), b"SIGRTMIN+3\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.readline(), b"SIGTERM\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"SIGTERM\n")
        self.assertEqual(process.wait(10), 40)
        self.assertEqual(self.record()["exit"], "exit 40")

    def test_a_timer_of_the_launchers_own(self):
        """`perl -e 'alarm 1; exec @ARGV' proftrace run ...`: the kernel sends that to one process, not to the group."""
        process = self.start_it("sleep", "20", stderr=-1, preexec_fn=lambda: signal.alarm(2))
        self.assertEqual(process.wait(15), -signal.SIGALRM)
        self.assertEqual(self.record()["exit"], "signal 14 (SIGALRM)")

    def test_death_by_a_forwarded_signal(self):
        process = self.start_it("sleep", "20", stderr=-1)
        self.wait_for_command(process.pid, "sleep")
        process.terminate()
        self.assertEqual(process.wait(10), -signal.SIGTERM)
        self.assertEqual(self.record()["exit"], "signal 15 (SIGTERM)")

    def test_signal_to_the_group_arrives_once(self):
        process = self.listener(start_new_session=True)
        os.killpg(process.pid, signal.SIGINT)
        seen = [process.stdout.readline()]
        for _ in range(2):  # the kernel makes one of two that wait to be taken
            process.send_signal(signal.SIGTERM)
            seen.append(process.stdout.readline())
        self.assertEqual(seen + [process.stdout.read()], [b"SIGINT\n", b"SIGTERM\n", b"SIGTERM\n", b""])

    def test_each_of_several_to_the_group_arrives_once(self):
        """Realtime signals queue: that the group has got the first of them was taken for all, and the command got the others again."""
        process = self.listener(start_new_session=True)
        process.send_signal(signal.SIGSTOP)
        for _ in range(3):
            os.killpg(process.pid, signal.SIGRTMIN + 3)
            self.assertEqual(process.stdout.readline(), b"SIGRTMIN+3\n")
        process.send_signal(signal.SIGCONT)
        for _ in range(2):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
        self.assertNotIn(b"SIGRTMIN", process.stdout.read())
        self.assertEqual(process.wait(10), 40)

    def on_terminal(self, *command):
        """The launcher as the foreground job of a terminal of its own."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(PROFTRACE, [PROFTRACE, "run", "--no-report", "--", *command], clean_environment())
        self.addCleanup(os.close, terminal)
        return pid, terminal

    @staticmethod
    def read_until(terminal, word, seconds=10):
        text = b""
        end = time.time() + seconds
        while word not in text and time.time() < end:
            if not select.select([terminal], [], [], 0.2)[0]:
                continue
            try:
                text += os.read(terminal, 4096)
            except OSError:
                break
        return text

    def test_control_c_arrives_once(self):
        pid, terminal = self.on_terminal(sys.executable, "-c", LISTENER)
        self.read_until(terminal, b"ready")
        os.write(terminal, b"\x03")
        text = self.read_until(terminal, b"SIGINT")
        for _ in range(2):  # the kernel makes one of two that wait to be taken
            os.kill(pid, signal.SIGTERM)
            text += self.read_until(terminal, b"SIGTERM")
        text += self.read_until(terminal, b"next:")
        self.assertEqual(text.count(b"SIGINT"), 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 40)

    def test_control_c_ends_both(self):
        pid, terminal = self.on_terminal("sleep", "20")
        self.wait_for_command(pid, "sleep")
        os.write(terminal, b"\x03")
        self.read_until(terminal, b"next:")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), -signal.SIGINT)
        self.assertEqual(self.record()["exit"], "signal 2 (SIGINT)")

    def test_control_z_stops_us_too(self):
        # An orphaned group cannot be stopped from its terminal: a shell in between, as in real life.
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve("/bin/bash", ["bash", "--norc", "-i"], clean_environment(PS1="> "))
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.addCleanup(os.close, terminal)
        self.read_until(terminal, b"> ")
        os.write(terminal, f"{PROFTRACE} run --no-report -- sh -c 'echo rea''dy; sleep 100; exit 6'\n".encode())
        self.assertIn(b"ready\r", self.read_until(terminal, b"ready\r"))
        sleep = self.wait_for_command(pid, "sleep")  # not while sh is in vfork: a parent in vfork cannot stop
        os.write(terminal, b"\x1a")
        self.assertIn(b"Stopped", self.read_until(terminal, b"Stopped"))
        os.write(terminal, b"fg\n")
        os.kill(sleep, signal.SIGTERM)  # taken once it goes on
        self.assertIn(b"next:", self.read_until(terminal, b"next:"))
        os.write(terminal, b"echo code $?\n")
        self.assertIn(b"code 6", self.read_until(terminal, b"code 6"))
        os.write(terminal, b"exit\n")


if __name__ == "__main__":
    unittest.main()
