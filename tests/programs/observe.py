# SPDX-License-Identifier: MIT
"""Run a story and see all that it leaves: what it printed, how it ended, which files, which processes.

Whoever calls become_reaper() inherits the orphans of every story, and so sees which of them outlive it."""
import ctypes
import dataclasses
import hashlib
import os
import resource
import shutil
import signal
import stat
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
SETTLES_S = 3


@dataclasses.dataclass
class Seen:
    """One run; each field is a list of lines, so that all are compared alike."""
    status: list
    out: list
    err: list
    files: list
    left: list
    cpu_s: float = 0
    wall_s: float = 0


def become_reaper():
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(pid):
    try:
        found = []
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
        return found
    except OSError:
        return []


def descendants(pid):
    for child in children(pid):
        yield child
        yield from descendants(child)


def comm(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def left_over():
    """Names of the processes that are still there once those that were about to end have; they are ended here."""
    until = time.monotonic() + SETTLES_S
    while True:
        reap()
        alive = list(descendants(os.getpid()))
        if not alive or time.monotonic() > until:
            break
        time.sleep(0.02)
    names = sorted(filter(None, map(comm, alive)))
    end_all()
    return names


def end_all():
    for _ in range(100):
        alive = list(descendants(os.getpid()))
        if not alive:
            return
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.02)
        reap()


def file_facts(folder):
    """A line for each file below: kind, mode, owner, what is in it."""
    facts = []
    for where, folders, names in os.walk(folder):
        for name in sorted(folders + names):
            path = os.path.join(where, name)
            about = os.lstat(path)
            content = ""
            if stat.S_ISLNK(about.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(about.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.sha1(file.read()).hexdigest()
            facts.append(f"{os.path.relpath(path, folder)}\t{stat.filemode(about.st_mode)} {about.st_uid}:{about.st_gid}\t{content}")
    return sorted(facts)


def lines_of(path):
    with open(path, encoding="utf-8", errors="backslashreplace") as file:
        return file.read().splitlines()


def observe(argv, work, logs, env, user=0, timeout=60):
    """Run to the end in a session of its own. `work` is where it runs and what is looked at; stdout goes to files in `logs`: a pipe would
    be held open by whoever is left over."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    paths = [os.path.join(logs, name) for name in ("out", "err")]
    as_user = {"user": user, "group": user, "extra_groups": []} if user else {}
    with open(paths[0], "wb") as out, open(paths[1], "wb") as err:
        child = subprocess.Popen(argv, cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, **as_user)
        try:
            status = child.wait(timeout=timeout)
        except subprocess.TimeoutExpired:
            status = f"still running after {timeout} s"
            for pid in [*descendants(child.pid), child.pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            child.wait()
    wall_s = time.monotonic() - began
    left = left_over()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Seen([str(status)], lines_of(paths[0]), lines_of(paths[1]), file_facts(work), left, cpu_s, wall_s)


def copied(source, target, user=0):
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["cp", "-a", source, target], check=True)
    if user:
        subprocess.run(["chown", "-R", f"{user}:{user}", target], check=True)
