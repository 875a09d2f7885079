# SPDX-License-Identifier: MIT
"""`from pipeline_profile.cli import main`: run the stages of a pipeline, each traced, and write the reports."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Mapping, Optional, Sequence, Union

from proftrace import command

Config = Union[None, str, "os.PathLike[str]", Mapping[str, Any], Sequence[str]]


def _run(arguments: Sequence[str]) -> int:
    sys.stdout.flush()
    return subprocess.run([command.find(), "pipeline", *arguments], env=command.environment(), check=False).returncode


def main(config: Config = None) -> int:
    """Run a pipeline; its exit code (0 fine, 1 a stage failed, 2 the configuration is wrong, 5 a quality metric is below its floor).

    config: a configuration as a dictionary, the path of a file, a list of arguments of `proftrace pipeline`, or None: those of this
    program's command line.

    >>> main({"profile": {"stages": [{"stage": "check", "cmd": ["true"]}]}})
    0
    """
    if config is None:
        return _run(sys.argv[1:])
    if isinstance(config, (str, os.PathLike)):
        return _run(["--config", os.fspath(config)])
    if isinstance(config, Mapping):
        # Paths in it are relative to where the program stands: so is a file there.
        with tempfile.NamedTemporaryFile("w", prefix=".pipeline-profile-", suffix=".json", dir=os.getcwd(), encoding="utf-8") as file:
            json.dump(config, file)
            file.flush()
            return _run(["--config", file.name])
    return _run(list(config))


if __name__ == "__main__":
    sys.exit(main())
