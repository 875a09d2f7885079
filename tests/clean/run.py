#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs with which nothing is wrong: none gets a finding that promises more than a twentieth of the run, but those whose advice was
taken and brought it (they stand beside the program).

  run.py BUILD [NAME...] [--write FILE]"""
import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "planted"), os.path.join(os.path.dirname(HERE), "random")]
from others import Others  # noqa: E402
from programs import PROGRAMS, PYTHON  # noqa: E402
import page  # noqa: E402

ABOVE = 0.05
OURS = ("PROFTRACE_", "LD_PRELOAD", "PLANTED_", "RANDOM_")
NOISE = ("noisy_neighbour", "stolen_cpus", "reference_blas", "cpu_above_threshold", "memory_above_threshold", "disk_above_threshold")
# The system's own: a version manager (pyenv, asdf) puts a script before programs that waits for a dozen commands, one after another.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Broken(Exception):
    """The program did not do what it does without us."""


def is_here(program):
    return all(shutil.which(word, path=PATH) for word in program.needs) and not any(
        subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, check=False).returncode for name in program.imports)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def filled(text, port):
    return text.replace("{port}", str(port))


def play(build, program):
    """(seconds, findings that promise more than a twentieth, how busy others were)"""
    whole = os.path.realpath(tempfile.mkdtemp(prefix="clean-"))
    folder, data = os.path.join(whole, "work"), os.path.join(whole, "data")
    os.mkdir(folder)
    port = free_port()
    environment = {**{k: v for k, v in os.environ.items() if not k.startswith(OURS)}, "PROFTRACE_DIR": data, "PATH": PATH}
    shell = lambda text: ["bash", "-c", filled(text, port)]  # noqa: E731
    try:
        if program.prepare:
            subprocess.run(shell(program.prepare), cwd=folder, env=environment, check=True, timeout=120, capture_output=True)
        beside = None
        with Others() as others:
            traced = subprocess.Popen([os.path.join(build, "proftrace"), "run", "--stage", program.name, "--", *shell(program.script)],
                                      cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if program.beside:
                beside = subprocess.Popen(shell(program.beside), cwd=folder, env=environment)
                beside.wait(timeout=60)
                end_of_server(traced.pid)
            _, said = traced.communicate(timeout=120)
        if traced.returncode or (beside and beside.returncode):
            raise Broken(f"ends with {traced.returncode}: {said.decode(errors='replace')[-1500:]}")
        with open(os.path.join(data, "latest", "report.json"), encoding="utf-8") as file:
            report = json.load(file)
    finally:
        shutil.rmtree(whole, ignore_errors=True)
    large = [(f["rule"], f["gain_upper_s"]) for f in report["findings"]
             if f["rule"] not in NOISE and (f["gain_upper_s"] or 0) > ABOVE * report["total_duration_s"]]
    return report["total_duration_s"], large, others.percent


def end_of_server(pid):
    """Ends the `timeout` below, which ends the server as its administrator would."""
    for child in children(pid):
        for below in [child, *children(child)]:
            with open(f"/proc/{below}/comm", encoding="utf-8") as file:
                if file.read().strip() == "timeout":
                    os.kill(below, 15)
                    return


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", metavar="FILE")
    arguments = parser.parse_intermixed_args()
    build = os.path.abspath(arguments.build)
    lines, false, ran, missing = [], [], 0, []
    for program in [p for p in PROGRAMS if not arguments.names or p.name in arguments.names]:
        if not is_here(program):
            missing.append(program.name)
            continue
        try:
            seconds, large, others = play(build, program)
        except (Broken, subprocess.SubprocessError) as error:
            print(f"FAIL {program.name}: {error}", flush=True)
            false.append(program.name)
            continue
        wrong = [f for f in large if f[0] not in program.reviewed]
        ran += 1
        false += [program.name] if wrong else []
        lines += [f"| {program.name} | {seconds:.2f} s | {rule} | {gain:.2f} s | {program.reviewed.get(rule, 'a false alarm')} |" for rule, gain in large]
        print(f"{'FAIL' if wrong else 'ok  '} {program.name}: {seconds:.2f} s" +
              "".join(f"; {rule} {gain:.2f} s" for rule, gain in large) + (f"; others {others:.0f} %" if others > 10 else ""), flush=True)
    told = f"{ran} programs, {len(false)} with a false alarm" + (f"; not here: {', '.join(missing)}" if missing else "")
    print(told, *false)
    if arguments.write:
        table = ["", "| program | took | finding | up to | |", "|---|---|---|---|---|", *lines] if lines else []
        page.put(arguments.write, "clean", [f"{page.when_and_where()}: {told}.", *table])
    return int(bool(false))


if __name__ == "__main__":
    sys.exit(main())
