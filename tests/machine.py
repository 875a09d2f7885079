# SPDX-License-Identifier: MIT
"""What this machine has for a test: CPUs, room for threads and files, a static program. Where it has too little, a test says so, and does
not fail for something else."""
import os
import resource
import subprocess


def own_groups(controller):
    """The folders of our control groups, from our own to the root: each may have a limit. In a container the inner ones may not be seen."""
    try:
        with open("/proc/self/cgroup", encoding="ascii") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return
    for _, controllers, path in lines:
        if controllers and controller not in controllers.split(","):
            continue
        root = f"/sys/fs/cgroup/{controller}" if controllers else "/sys/fs/cgroup"
        while True:
            yield root + path.rstrip("/")
            if path == "/":
                break
            path = os.path.dirname(path)


def numbers_in(path):
    """Of a control group's file; None for "max" or -1, which are no limit; an empty list where there is no such file."""
    try:
        with open(path, encoding="ascii") as file:
            return [None if word in ("max", "-1") else int(word) for word in file.read().split()]
    except (OSError, ValueError):
        return []


def quota_cpus():
    """So many CPUs' time may be used; None = no limit."""
    found = []
    for group in own_groups("cpu"):
        quota = numbers_in(f"{group}/cpu.max") or numbers_in(f"{group}/cpu.cfs_quota_us") + numbers_in(f"{group}/cpu.cfs_period_us")
        if len(quota) == 2 and None not in quota:
            found.append(quota[0] / quota[1])
    return min(found, default=None)


def cpus():
    """On which we may run at the same time: os.cpu_count() tells of the whole machine."""
    return max(1, int(min(len(os.sched_getaffinity(0)), quota_cpus() or 1 << 20)))


def first_in_line():
    """A command to put before one that is to have a CPU whenever it wants one, beside whatever else runs; empty where we may not."""
    command = ["nice", "-n", "-15"]
    allowed = subprocess.run([*command, "true"], stderr=subprocess.PIPE, check=False)
    return command if allowed.returncode == 0 and not allowed.stderr else []


def need_tasks(case, n):
    """Skips where so many threads or processes more are not allowed."""
    left = []
    for group in own_groups("pids"):
        most, now = numbers_in(f"{group}/pids.max"), numbers_in(f"{group}/pids.current")
        if most and now and most[0] is not None:
            left.append(most[0] - now[0])
    allowed = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if os.geteuid() and allowed != resource.RLIM_INFINITY:
        left.append(allowed)
    if min(left, default=n + 100) < n + 100:
        case.skipTest(f"only {min(left)} threads more are allowed here (pids.max, ulimit -u), the test needs {n}")


def need_room(case, folder):
    """Fails where trace files would not grow: what is lost then is lost for this reason only."""
    space = os.statvfs(folder)
    if space.f_bavail < space.f_blocks / 20:
        case.fail(f"the file system of {folder} has less than 5 % free: trace files do not grow there, and events are lost; free some, or set TMPDIR")


def need_static_program(case):
    """A path; ldconfig is one, but Ubuntu has a script of that name in front of it."""
    for path in ("/sbin/ldconfig", "/sbin/ldconfig.real"):
        if os.path.exists(path):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    return path
    case.skipTest("no static program is known here: ldconfig is missing or a script")
