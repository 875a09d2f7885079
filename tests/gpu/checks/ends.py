# SPDX-License-Identifier: MIT
"""Python processes that use the GPU and end by sys.exit, os._exit, SIGTERM, an exception or the end of the program."""
import os
import sys

from gpu_case import Skip, counts, last_json

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "ends.py")
EXITS = {"return": 0, "sys.exit": 3, "exception": 1, "os._exit": 4, "sigterm": -15}
ORDERLY = ("return", "sys.exit", "exception")


def python_ends(context):
    """The exit code is the program's; after an orderly end nothing is missing, after a sudden one the trace does not claim so."""
    values = {}
    for how, code in EXITS.items():
        argv = [sys.executable, PROGRAM, how, "200"]
        bare = context.bare(argv, check=False)
        if "no libcudart" in bare.stderr:
            raise Skip("no libcudart that Python could load: neither the loader's, nor the toolkit's, nor of a wheel")
        done, run = context.traced(argv, check=False)
        events = context.events(run)
        states = [e["state"] for e in events if e["event"] == "gpu_tracing"]
        values[how] = {"exit": done.returncode, "sets": counts(events)["gpu_set"], "states": states}
        assert (bare.returncode, done.returncode) == (code, code), (how, bare.returncode, done.returncode, done.stderr[-300:])
        executed = last_json(done.stdout)["sets"]
        assert values[how]["sets"] == executed if how in ORDERLY else values[how]["sets"] <= executed, (how, values[how])
        assert (4 in states) == (how in ORDERLY), (how, states)
    return values


CHECKS = [python_ends]
