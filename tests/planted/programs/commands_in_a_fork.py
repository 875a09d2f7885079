# SPDX-License-Identifier: MIT
"""A copy of the program runs ten commands one after the other, and the program waits for it; the fixed one starts them together."""
import os
import subprocess

import planted

CONVERT = ["convert", "0.3"]  # which waits for something: to pause by sleep is another thing
COMMANDS = 10


def convert_all(is_fixed):
    children = []
    for _ in range(COMMANDS):
        children.append(subprocess.Popen(CONVERT, executable="/bin/sleep"))
        if not is_fixed:
            children[-1].wait()  # planted here
    for child in children:
        child.wait()


def in_a_copy(is_fixed):
    copy = os.fork()
    if not copy:
        convert_all(is_fixed)
        os._exit(0)
    os.waitpid(copy, 0)


planted.main(lambda: in_a_copy(False), lambda: in_a_copy(True))
