# SPDX-License-Identifier: MIT
"""Programs with PyTorch, untraced and under the library, and the phases that were recorded of them."""
import collections
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"])
PROGRAMS = pathlib.Path(__file__).parent / "programs"
# Which Python has PyTorch: Debian's, unless somebody names another one.
PYTHON = os.environ.get("PROFTRACE_TEST_TORCH", "/usr/bin/python3")
LINE = re.compile(r"^([\d.]+) (\S+) phase_(begin|end) (.*)$", re.M)

Phase = collections.namedtuple("Phase", "name label object thread begin_s end_s outcome amount made parents")


def skip_without_torch():
    done = subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{PYTHON} has no PyTorch")
        sys.exit(77)
    return done.stdout.strip()


def environment(**more):
    base = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
    return {**base, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", **more}


def play(*command, **more):
    """(exit code, stdout, stderr) of PYTHON command..."""
    done = subprocess.run([PYTHON, *map(str, command)], capture_output=True, text=True, env=environment(**more), cwd=PROGRAMS, timeout=900, check=False)
    return done.returncode, done.stdout, done.stderr


def traced(*command, **more):
    """What play() says, and the text of the trace."""
    with tempfile.TemporaryDirectory() as folder:
        end = play(*command, LD_PRELOAD=str(BUILD / "libproftrace.so"), PROFTRACE_DIR=folder, **more)
        text = subprocess.run([BUILD / "proftrace", "dump", f"{folder}/latest"], capture_output=True, text=True, check=True).stdout
    return end, text


def phases_in(text):
    """Ended phases in the order of their beginning, and how many did not end. An end without a beginning is an error."""
    stacks, phases, order = collections.defaultdict(list), [], 0
    for time, thread, kind, rest in LINE.findall(text):
        fields = dict(word.partition("=")[::2] for word in shlex.split(rest))
        stack = stacks[thread]
        if kind == "begin":
            stack.append((order, float(time), fields))
            order += 1
        else:
            at, begin, first = stack.pop()
            phases.append((at, Phase(first["phase"], first.get("name"), int(first["object"], 0), thread, begin, float(time), fields["outcome"],
                                     int(fields["amount"], 0), int(fields["object"], 0), [one[2]["phase"] for one in stack])))
    return [phase for _, phase in sorted(phases, key=lambda one: one[0])], sum(map(len, stacks.values()))


def counts(phases):
    return dict(collections.Counter(phase.name for phase in phases))
