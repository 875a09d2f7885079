# SPDX-License-Identifier: MIT
"""From a seed to a pipeline: its texts, what it is started with, and what is wrong with it. The same seed gives the same texts.

A program is: parts of a cause (or of a look-alike) with healthy computing between them, in a place (the main thread, a thread, a
child), behind wrappers. `PROGRAM --fixed` is the same without the cause."""
import dataclasses
import os
import random
import string

import causes
import causes_torch  # noqa: F401
import causes_wide  # noqa: F401
import lookalikes  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ["decode", "resize", "collate", "fetch_batch", "load_shard", "tokenize", "normalise", "augment", "write_result", "index_files",
         "update", "prepare_epoch", "gather", "score", "pack", "filter_rows", "export_rows", "hash_items"]

PYTHON = '''"""Made by tests/random: seed $seed."""
import os, sys, time
import truth
from truth import FIXED
$setup


def $work(part):
$body


def $rest(part):
    truth.compute($units)


def $run():
    for part in range($parts):
        $work(part)
        $rest(part)
$end


if __name__ == "__main__":
    truth.main(lambda: truth.in_$place($run))
'''

C = '''/* Made by tests/random: seed $seed. */
#include "truth.h"
$setup

static __attribute__((noinline)) void $work(int part)
{
    (void)part;
$body
}

static __attribute__((noinline)) void $rest(void)
{
    truth_compute($units);
}

static void $run(void)
{
    for (int part = 0; part < $parts; part++) {
        $work(part);
        $rest();
    }
$end
}

static void whole(void)
{
    truth_in_$place($run);
}

int main(int argc, char **argv)
{
    return truth_main(argc, argv, whole);
}
'''

STAGES = {
    "fetch": ["cp", "/usr/bin/env", "copied"],
    "check": ["/usr/bin/python3", "-c", "import json; print(sum(i % 7 for i in range(1_500_000)))"],
    "sum": ["sh", "-c", "sha256sum /usr/bin/python3 > sums"],
    "grade": ["/usr/bin/python3", "-c", "import statistics; print(statistics.mean(range(100_000)))"],
}

LAUNCHERS = {
    "sh": ('#!/bin/sh\nmkdir -p out\n"$@"\ncode=$?\nexit $code\n', ["/bin/sh", "sh.sh"]),
    "launcher": ('import subprocess, sys\nsys.exit(subprocess.call(sys.argv[1:]))\n', ["/usr/bin/python3", "launcher.py"]),
    "poller": ('import subprocess, sys, time\nchild = subprocess.Popen(sys.argv[1:])\nwhile child.poll() is None:\n    time.sleep(0.02)\n'
               'sys.exit(child.returncode)\n', ["/usr/bin/python3", "poller.py"]),
    "timeout": (None, ["timeout", "100"]),
    "env": (None, ["env", "STAGE=1"]),
    "nice": (None, ["nice", "-n", "0"]),
    "make": ("all:\n\t@$(COMMAND)\n", None),
}
WRAPPERS = [[]] * 6 + [["sh"], ["sh"], ["launcher"], ["poller"], ["timeout"], ["env"], ["nice"], ["sh", "timeout"], ["launcher", "sh"]]


@dataclasses.dataclass
class Pipeline:
    seed: int
    cause: object
    place: str
    wrappers: list
    amounts: dict
    files: dict  # name: text
    program: str
    others: dict  # stages of the same pipeline, with which nothing is wrong: name: command

    @property
    def label(self):
        return " ".join([self.cause.name, self.cause.language, f"in_{self.place}", *(["behind", *self.wrappers] if self.wrappers else []),
                         *(["among", *self.others] if self.others else [])])


def indented(text, template):
    return "\n".join(("    " + line if line.strip() and not line.startswith("#") else line) for line in text.strip("\n").splitlines()) \
        if template else text.strip("\n")


def pipeline_of(seed, names=None):
    """`names`: only of these causes."""
    choose = random.Random(f"pipeline {seed}")
    known = [c for c in causes.CAUSES if not names or c.name in names]
    healthy = {c.name for c in known if not c.rules}
    ill = {c.name for c in known} - healthy
    name = choose.choice(sorted((healthy if choose.random() < 0.2 else ill) or healthy or ill))
    cause = choose.choice([c for c in known if c.name == name])
    place = choose.choice(cause.places)
    wrappers = choose.choice(WRAPPERS) if cause.wrapped else []
    parts = choose.choice(cause.parts)
    amounts = {key: choose.choice(values) if isinstance(values, (list, tuple, range)) else values for key, values in cause.amounts.items()}
    words = choose.sample(NAMES, 4)
    units = choose.choice([0, 5, 20, 60, 150]) // parts if cause.has_rest else 0
    values = dict(amounts, seed=seed, parts=parts, place=place, work=words[0], rest=words[1], run=words[2] + "_all", helper=words[3] + "_one",
                  units=units)
    for key, text in cause.derived.items():
        values[key] = eval(text, {"max": max, "min": min}, dict(values))  # pylint: disable=eval-used
    fill = lambda text: string.Template(text).substitute(values)
    values["setup"], values["body"] = fill(cause.setup.strip("\n")), fill(indented(cause.body, True))
    values["end"] = fill(indented(cause.end, True))
    is_c = cause.language == "c"
    program = "program.c" if is_c else "program.py"
    files = {program: fill(C if is_c else PYTHON)}
    helper = "truth.h" if is_c else "truth.py"
    with open(os.path.join(HERE, "programs", helper), encoding="utf-8") as file:
        files[helper] = file.read()
    if cause.prepare:
        files["prepare.py"] = fill(cause.prepare.strip("\n") + "\n")
    for wrapper in wrappers:
        text, words_of = LAUNCHERS[wrapper]
        if text:
            files[words_of[-1]] = text
    names_of_stages = choose.sample(sorted(STAGES), choose.choice([0, 0, 0, 1, 3])) if cause.wrapped else []
    return Pipeline(seed, cause, place, wrappers, amounts, files, program, {name: STAGES[name] for name in names_of_stages})


def command_of(pipeline, is_fixed):
    own = ["./program"] if pipeline.program == "program.c" else [*pipeline.cause.python, "program.py"]
    words = [word for wrapper in pipeline.wrappers for word in LAUNCHERS[wrapper][1]]
    return [*words, *own, *(["--fixed"] if is_fixed else [])]
