#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pipelines at random, and what the reports say of them: is the planted cause the first finding, is its bound the real gain, and are
the healthy ones left alone?

  run.py BUILD --seeds A..B [--causes NAME,...] [--beside N] [--places] [--write FILE] [--keep DIR]
  run.py --show SEED

The real gain is that of the program's own clocks: its wall time with and without the cause, both recorded. What it queued for a CPU is
known (schedstat), and what a hypervisor took from the CPUs: where others are busy the gain lies between that with the queueing and that
without it."""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "planted"))
sys.path.insert(1, os.path.dirname(HERE))
import grammar  # noqa: E402
import table  # noqa: E402
import truth_of_place  # noqa: E402
from others import Others, busy_loops  # noqa: E402
from possible import impossible  # noqa: E402
from stolen import no_schedstat, stolen_s  # noqa: E402
from surroundings import Skip  # noqa: E402

refuted = []  # values above what is possible, in any report
OURS = ("PROFTRACE_", "LD_PRELOAD", "PLANTED_", "RANDOM_", "FAKENVML", "OMP_")


def put(folder, files):
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def make(pipeline, folder):
    """All that it needs, in a folder of its own."""
    put(folder, pipeline.files)
    if pipeline.program == "program.c":
        subprocess.run(["cc", "-O1", "-g", "-pthread", *pipeline.cause.cc, "-o", "program", "program.c"], cwd=folder, check=True)
    if "prepare.py" in pipeline.files:
        subprocess.run([*pipeline.cause.python, "prepare.py"], cwd=folder, check=True, timeout=120)


def clocks(path, taken_s):
    """(wall, seconds queued one after another, CPU) as the program says; `taken_s`: from its CPU, by a hypervisor, on average."""
    with open(path, encoding="ascii") as file:
        own = json.load(file)
    queued = own["queued_s"] + taken_s
    if os.path.exists(path + ".queued"):
        with open(path + ".queued", encoding="ascii") as file:
            queued += sum(map(float, file))
    return own["wall_s"], queued, own["cpu_s"]


def way(pipeline, folder, is_fixed):
    """Alone, or as the second of the stages of a pipeline."""
    command = grammar.command_of(pipeline, is_fixed)
    if not pipeline.others:
        return ["run", "--stage", "stage", "--", *command]
    stages = [{"stage": name, "cmd": words} for name, words in pipeline.others.items()]
    stages.insert(1, {"stage": "stage", "cmd": command})
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"profile": {"stages": stages}}, file)
    return ["pipeline", "--config", "config.json"]


def run_all(command, timeout, **more):
    """subprocess.run; what takes too long ends with all that it started, which would be beside the pipelines that follow."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **more) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def record(build, pipeline, folder, is_fixed):
    """(report, clocks) of one variant."""
    data = os.path.join(folder, f"data-{int(is_fixed)}")
    own_clock = os.path.join(folder, f"truth-{int(is_fixed)}")
    base = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
    with pipeline.cause.around[is_fixed](folder) as start:
        environment = {**base, **start.environment, "PROFTRACE_DIR": data, "RANDOM_TRUTH": own_clock}
        taken_s = stolen_s()
        command = [*start.prefix, os.path.join(build, "proftrace"), *way(pipeline, folder, is_fixed)]
        done = run_all(command, 120, cwd=folder, env=environment, preexec_fn=start.first)
        taken_s = (stolen_s() - taken_s) / os.cpu_count()
    if done.returncode == 124:
        raise subprocess.TimeoutExpired(command, 100)
    if done.returncode:
        raise SystemExit(f"seed {pipeline.seed}: {pipeline.label} ends with {done.returncode}: "
                         f"{done.stderr.decode(errors='replace')[-2000:]}")
    with open(os.path.join(data, "latest", "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    for problem in impossible(report):
        print(f"IMPOSSIBLE seed {pipeline.seed}: {pipeline.label}: {problem}", flush=True)
        refuted.append(problem)
    return report, clocks(own_clock, taken_s)


def play(build, pipeline, keep, again):
    """One pipeline: a row of the table. A bound that does not hold is measured up to `again` times more."""
    row = play_once(build, pipeline, keep)
    while again and row.is_bound is False:
        print(f"once more: {row}", flush=True)
        row, again = play_once(build, pipeline, keep), again - 1
    return row


def play_once(build, pipeline, keep):
    folder = os.path.realpath(tempfile.mkdtemp(prefix="random-"))
    try:
        make(pipeline, folder)
        spots = truth_of_place.spots_of([os.path.join(folder, pipeline.program)])
        with Others() as others:
            bad, bad_clocks = record(build, pipeline, folder, False)
        fixed, fixed_clocks = (record(build, pipeline, folder, True) if pipeline.cause.rules else (None, (0, 0, 0)))
    finally:
        if keep:
            shutil.copytree(folder, os.path.join(keep, str(pipeline.seed)), dirs_exist_ok=True, symlinks=True)
        shutil.rmtree(folder, ignore_errors=True)
    return table.Row.of(pipeline, bad, bad_clocks, fixed, fixed_clocks, others.percent, spots)


def look_at_place(build, pipeline, keep):
    """Of one pipeline only what its first finding names: a row of the table of places; None where no line of Python is marked."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="random-"))
    try:
        put(folder, pipeline.files)
        spots = truth_of_place.spots_of([os.path.join(folder, pipeline.program)])
        if not spots:
            return None
        make(pipeline, folder)
        report, _ = record(build, pipeline, folder, False)
    finally:
        if keep:
            shutil.copytree(folder, os.path.join(keep, str(pipeline.seed)), dirs_exist_ok=True, symlinks=True)
        shutil.rmtree(folder, ignore_errors=True)
    return table.Place.of(pipeline, report, spots)


def check_needs(pipeline):
    if pipeline.cause.needs_torch and subprocess.run([*pipeline.cause.python, "-c", "import torch, PIL"], capture_output=True, check=False).returncode:
        raise Skip("no torch")
    if pipeline.cause.needs_fast_blas and "/blas/" in os.path.realpath("/usr/lib/x86_64-linux-gnu/libblas.so.3"):
        raise Skip("Debian's PyTorch multiplies with the reference BLAS here: install libopenblas0-pthread")


def seeds_of(text):
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def show(seed, names):
    pipeline = grammar.pipeline_of(seed, names)
    print(f"seed {seed}: {pipeline.label}; {pipeline.amounts}; first finding: {' or '.join(pipeline.cause.rules) or 'none'}")
    print("command:", *grammar.command_of(pipeline, False))
    for name, text in pipeline.files.items():
        if not name.startswith("truth."):
            print(f"---- {name}\n{text}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--seeds", default="1..20", metavar="A..B")
    parser.add_argument("--causes", metavar="NAME,...")
    parser.add_argument("--beside", type=int, default=0, metavar="N", help="busy loops beside it")
    parser.add_argument("--show", type=int, metavar="SEED")
    parser.add_argument("--keep", metavar="DIR", help="leaves the folders of the pipelines there")
    parser.add_argument("--places", action="store_true", help="only whether the first finding names the planted line of Python")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--again", type=int, default=0, metavar="N", help="measures a bound that does not hold up to N times more: of few pipelines no rate")
    parser.add_argument("--check", action="store_true", help="fails below the rates that the suite promises")
    arguments = parser.parse_args()
    names = arguments.causes.split(",") if arguments.causes else None
    if arguments.show is not None:
        return show(arguments.show, names)
    if no_schedstat():
        print(f"skipped: {no_schedstat()}")
        return 77
    build = os.path.abspath(arguments.build)
    rows = []
    with busy_loops(arguments.beside):
        for seed in seeds_of(arguments.seeds):
            pipeline = grammar.pipeline_of(seed, names)
            try:
                check_needs(pipeline)
                row = look_at_place(build, pipeline, arguments.keep) if arguments.places else play(build, pipeline, arguments.keep, arguments.again)
            except Skip as reason:
                print(f"skip {seed}: {pipeline.label}: {reason}", flush=True)
                continue
            except subprocess.TimeoutExpired as error:
                if not (arguments.beside or arguments.places):
                    raise
                print(f"skip {seed}: {pipeline.label}: beside busy loops: {str(error)[:200]}", flush=True)
                continue
            if row:
                print(row, flush=True)
                rows.append(row)
    result = (table.Places if arguments.places else table.Result)(rows, arguments.seeds, arguments.beside)
    print(result.text())
    if arguments.write:
        result.write(arguments.write)
    return int((arguments.check and not result.holds()) or bool(refuted))


if __name__ == "__main__":
    sys.exit(main())
