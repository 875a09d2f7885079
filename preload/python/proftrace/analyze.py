# SPDX-License-Identifier: MIT
"""`python -m proftrace.analyze TRACE.json[.gz]|RUN ...`: analyze_trace on a command line, as JSON."""
from __future__ import annotations

import json
import sys
import zlib
from typing import List

from .command import CommandError
from .trace import analyze_trace


def main(paths: List[str]) -> int:
    """Prints what each trace says, one JSON object after another; the exit code.

    >>> main([])
    usage: python -m proftrace.analyze TRACE.json[.gz]|RUN ...
    2
    """
    if not paths:
        print("usage: python -m proftrace.analyze TRACE.json[.gz]|RUN ...")
        return 2
    for path in paths:
        try:
            found = {key: None if value != value else value for key, value in analyze_trace(path).items()}  # JSON has no NaN
            print(json.dumps({"trace": path, **found}, indent=1))
        except (OSError, ValueError, EOFError, zlib.error, CommandError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
