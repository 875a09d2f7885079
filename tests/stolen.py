# SPDX-License-Identifier: MIT
"""What a hypervisor takes from this machine: the kernel's clocks of threads (CPU time, and queueing as schedstat tells it) stop
meanwhile, clocks of the wall go on. Tests that hold one against the other let this much pass."""
import os


def no_schedstat():
    """Why it is not known here how long a thread waits for a CPU; None where it is."""
    return None if os.path.exists("/proc/thread-self/schedstat") else "this kernel does not tell how long threads wait for a CPU (/proc/PID/schedstat)"


def stolen_s():
    """Seconds of all CPUs since the machine started. In ticks, of 10 ms mostly."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")
