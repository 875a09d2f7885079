#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that no other test names, as people run them: each says, leaves and ends the same with the library as without it, in every heap
mode; what was not recorded has a true reason; and no report of it holds nonsense.

  run.py BUILD [NAME...] [--quick] [--heap sampled,full,off] [--list] [--install] [--keep] [--write FILE]

A story is a bash script, traced as a whole: the shell, servers and their clients. What is not installed is skipped by name; --install gets
the packages of scripts/packages/programs.txt first."""
import argparse
import contextlib
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "random")]
import observe  # noqa: E402
import page  # noqa: E402
import reports  # noqa: E402
from expected import Expected  # noqa: E402
from program import PATH, PRELUDE  # noqa: E402
from all_programs import PROGRAMS  # noqa: E402

BASELINES, MOST_BASELINES = 2, 5


def free_port():
    """Not one of those that the kernel gives to whoever connects: such a one may be another program's in the next run. (The same for all runs: it is
    in files that are compared.)"""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        lowest = int(file.read().split()[0])
    below = range(min(10000, lowest), lowest)
    for port in [*random.sample(below, min(len(below), 100)), 0]:
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)) as listener:
            return listener.getsockname()[1]
    raise RuntimeError("no port is free")


class Stage:
    """Folders of one program: a copy of the library that any user can read, what `prepare` left, the work, logs, traces."""

    def __init__(self, build, program, keep):
        self.program, self.keep = program, keep
        self.whole = os.path.realpath(tempfile.mkdtemp(prefix="proftrace-programs-"))
        os.chmod(self.whole, 0o755)
        self.template, self.work, self.logs, self.traces = (os.path.join(self.whole, name) for name in ("template", "work", "logs", "traces"))
        os.makedirs(os.path.join(self.template, "home"), mode=0o755)
        os.makedirs(os.path.join(self.template, "tmp"), mode=0o755)
        os.mkdir(self.logs)
        self.library = os.path.join(self.whole, "libproftrace.so")
        shutil.copy(os.path.join(build, "libproftrace.so"), self.library)
        self.port = free_port()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.keep:
            print(f"kept: {self.whole}")
        else:
            shutil.rmtree(self.whole, ignore_errors=True)

    def environment(self, **more):
        kept = {key: value for key, value in os.environ.items() if key in ("LANG", "TERM", "USER", "LOGNAME")}
        kept.update(PATH=PATH, HOME=os.path.join(self.work, "home"), TMPDIR=os.path.join(self.work, "tmp"), LC_ALL="C.UTF-8", PORT=str(self.port),
                    REAL_HOME=os.path.expanduser("~"),
                    SUPPRESSIONS=os.path.join(ROOT, "preload", "valgrind.supp"))
        return {**kept, **more}

    def prepare(self):
        if self.program.prepare:
            os.rename(self.template, self.work)
            done = subprocess.run(["bash", "-c", PRELUDE + self.program.prepare], cwd=self.work, env=self.environment(), timeout=300,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            os.rename(self.work, self.template)
            if done.returncode:
                raise RuntimeError(f"cannot be prepared: {done.stdout.decode(errors='replace')[-1000:]}")

    def play(self, mode=None):
        """One run; `mode` is the heap mode, None without the library."""
        user = self.program.user
        observe.copied(self.template, self.work, user)
        more = {}
        if mode:
            shutil.rmtree(self.traces, ignore_errors=True)
            os.mkdir(self.traces, mode=0o700)
            if user:
                os.chown(self.traces, user, user)
            more = {"LD_PRELOAD": self.library, "PROFTRACE_DIR": self.traces, "PROFTRACE_HEAP": mode}
        return observe.observe(["bash", "-c", PRELUDE + self.program.script], self.work, self.logs, self.environment(**more), user, self.program.timeout)


def difference(stage, expected, mode):
    """How a run with the library differs, once nothing but the library explains it, and the run."""
    seen = stage.play(mode)
    while (told := expected.difference(seen, stage.program.may_differ)) and len(expected.runs) < MOST_BASELINES:
        expected.more(stage.play())
    return told, seen


def check(build, program, modes, keep):
    """(problems, what to say beside the name)"""
    with Stage(build, program, keep) as stage:
        stage.prepare()
        expected = Expected(stage.play() for _ in range(BASELINES))
        if any("still running" in status for run in expected.runs for status in run.status):
            raise RuntimeError("does not end without the library")
        problems, said, facts = [], [], None
        for mode in modes:
            told, seen = difference(stage, expected, mode)
            problems += [f"{mode}: {told}"] if told else []
            wrong, facts = reports.check(build, stage.traces, program)
            problems += [f"{mode}: {line}" for line in wrong]
            said.append(f"{mode} {seen.cpu_s / max(expected.runs[-1].cpu_s, 0.01):.2f}x")
        problems += [f"no two runs without the library have the same {field}" for field in expected.unrepeatable() if field not in program.may_differ]
        rough = [f"{field}: {level}" for field, level in expected.rough().items()]
        return problems, f"{expected.runs[0].wall_s:.1f} s; CPU {', '.join(said)}; {facts}" + (f"; compared {', '.join(rough)}" if rough else "")


def install():
    command = f". '{ROOT}/scripts/lib/common.sh'; packages_install programs"
    if subprocess.run(["bash", "-c", command], check=False).returncode:
        print("not all packages could be installed: what is missing is skipped")


def arguments_of(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--heap", default=None, metavar="MODES")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--write", metavar="FILE")
    return parser.parse_intermixed_args(argv)


def main(argv):
    arguments = arguments_of(argv)
    build = os.path.abspath(arguments.build)
    modes = (arguments.heap or ("sampled,full" if arguments.quick else "sampled,full,off")).split(",")
    if arguments.install:
        install()
    chosen = [p for p in PROGRAMS if (not arguments.names or p.name in arguments.names) and (not arguments.quick or p.quick)]
    if arguments.list:
        print("\n".join(f"{p.name}: {p.missing() or 'here'}" for p in chosen))
        return 0
    observe.become_reaper()
    ran, bad, skipped, lines = 0, [], [], []
    for program in chosen:
        missing = program.missing()
        if missing:
            skipped.append(program.name)
            print(f"skip {program.name}: {missing}", flush=True)
            continue
        ran += 1
        try:
            problems, said = check(build, program, modes, arguments.keep)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            problems, said = [str(error)], ""
        bad += [program.name] if problems else []
        lines.append(f"| {program.name} | {'differs' if problems else 'the same'} | {said} |")
        print(f"{'FAIL' if problems else 'ok  '} {program.name}: {said}", *[f"  {line}" for line in problems], sep="\n" if problems else "", flush=True)
    told = f"{ran} programs, {len(bad)} with a difference" + (f"; not here: {', '.join(skipped)}" if skipped else "")
    print(told, *bad)
    if arguments.write:
        page.put(arguments.write, "programs", [f"{page.when_and_where()}: {told}.", "", "| program | | |", "|---|---|---|", *lines])
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
