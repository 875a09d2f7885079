# SPDX-License-Identifier: MIT
"""The `proftrace` command: where it is, and what it answers."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import List, Optional


class CommandError(RuntimeError):
    """The command is not there, or it failed; the text is what it said, `code` its exit code.

    >>> try:
    ...     ask("report", "/no/such/run")
    ... except CommandError as error:
    ...     error.code
    3
    """

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def _candidates() -> List[Optional[str]]:
    here = os.path.dirname(os.path.abspath(__file__))
    return [
        os.environ.get("PROFTRACE_COMMAND"),
        os.path.join(here, "bin", "proftrace"),
        os.path.join(here, "..", "bin", "proftrace"),  # of a wheel that `pip install --target` has put here
        os.path.join(here, "..", "..", "..", "..", "bin", "proftrace"),  # PREFIX/share/proftrace/python, as CMake installs, or a wheel
        os.path.join(os.path.dirname(sys.executable), "proftrace"),  # of this environment
        shutil.which("proftrace"),
    ]


def find() -> str:
    """Its path: PROFTRACE_COMMAND, of the installation that this package is of, beside the interpreter, or on PATH."""
    for path in _candidates():
        if path and os.access(path, os.X_OK) and os.path.isfile(path):
            return os.path.normpath(path)
    raise CommandError("the proftrace command was not found: put it on PATH, or its path into PROFTRACE_COMMAND", 127)


def environment() -> "dict[str, str]":
    """The environment without tracing: what reads a run is no part of it."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD" or "libproftrace" not in value}


def ask(*arguments: str) -> str:
    """What it prints; CommandError when it fails."""
    done = subprocess.run([find(), *arguments], capture_output=True, env=environment(), check=False)
    if done.returncode:
        raise CommandError(done.stderr.decode("utf-8", "replace").strip() or f"proftrace ended with {done.returncode}", done.returncode)
    return done.stdout.decode("utf-8", "replace")
