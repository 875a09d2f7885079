# SPDX-License-Identifier: MIT
"""Programs that start others without LD_PRELOAD: these are not traced, and the report says which and why."""
import json
import os
import unittest

from launcher_case import LauncherCase

CLEARED = "its environment was cleared: LD_PRELOAD does not name the library there"
BAD_POINTERS = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
argv = (ctypes.c_char_p * 2)(b"true", None)
two = (ctypes.c_void_p * 2)(8, None)                       # an entry that is no string
for envp in (ctypes.c_void_p(8), ctypes.c_void_p(-4096 & 2**64 - 1), two):
    print(libc.execve(b"/bin/true", argv, envp), errno.errorcode[ctypes.get_errno()])
"""


class ClearedEnvironment(LauncherCase):
    def untraced(self, *command):
        self.run_it(*command)
        report = json.loads(self.proftrace("report", "--format", "json").stdout)
        return {os.path.basename(p["exe"]): p["untraced_reason"] for p in report["processes"] if not p["traced"]}

    def test_by_env(self):
        self.assertEqual(self.untraced("env", "-i", "/bin/ls"), {"ls": CLEARED})
        self.assertEqual(self.untraced("env", "-u", "LD_PRELOAD", "/bin/cat", "/dev/null"), {"cat": CLEARED})

    def test_by_a_shell(self):
        self.assertEqual(self.untraced("sh", "-c", "unset LD_PRELOAD; /bin/ls >&2; LD_PRELOAD=libm.so.6 /bin/cat /dev/null"),
                         {"ls": CLEARED, "cat": CLEARED})

    def test_by_python(self):
        """subprocess with an environment of its own: execve in a child made by vfork, and posix_spawn."""
        program = ("import os,subprocess\nsubprocess.run(['/bin/ls'],env={'A':'1'},stdout=2)\n"
                   "os.waitpid(os.posix_spawn('/bin/cat',['cat','/dev/null'],{}),0)\nsubprocess.run(['/bin/true'])")
        self.assertEqual(self.untraced("/usr/bin/python3", "-S", "-c", program), {"ls": CLEARED, "cat": CLEARED})

    def test_those_that_keep_it(self):
        self.assertEqual(self.untraced("sh", "-c", "/bin/ls >&2; A=1 env /bin/cat /dev/null; env -u HOME /bin/true"), {})

    def test_pointers_that_the_kernel_refuses(self):
        """EFAULT as without us, never a SIGSEGV from looking."""
        done = self.run_it("/usr/bin/python3", "-S", "-c", BAD_POINTERS)
        self.assertEqual(done.stdout.decode().splitlines(), ["-1 EFAULT"] * 3)


if __name__ == "__main__":
    unittest.main()
