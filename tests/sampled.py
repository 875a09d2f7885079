# SPDX-License-Identifier: MIT
"""Why this machine does not let us sample what programs compute, as `proftrace doctor` has asked the kernel. Tests that need samples skip by this,
never by there being none: then sampling that is broken would be a skip, too."""
import functools
import json
import os
import subprocess


@functools.lru_cache
def refused(proftrace):
    """{name of a check: its reason} of what doctor warns of."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PROFTRACE_")}
    done = subprocess.run([proftrace, "doctor", "--json"], capture_output=True, check=False, timeout=100, env=environment)
    return {check["name"]: check["detail"] for check in json.loads(done.stdout)["checks"] if check["status"] != "ok"}


def no_samples(proftrace):
    """None where there are samples."""
    return refused(str(proftrace)).get("perf events")


def no_samples_of_python(proftrace):
    """Without perf events, Python's stacks are read from outside. None where one of both can be."""
    return no_samples(proftrace) and refused(str(proftrace)).get("ptrace")
