# SPDX-License-Identifier: MIT
"""Cells in a real IPython, with the magics; prints what each one printed, whether it succeeded, and what its error was."""
import json

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

CELLS = [
    "%load_ext proftrace",
    "x = 3000",
    "%proftrace total = sum(range(x))",
    "total",
    "%%proftrace spend\nimport time\nend = time.monotonic() + 0.4\nwhile time.monotonic() < end:\n    pass",
    "%%proftrace\nblock = bytearray(64 << 20)\n'its last value'",
    "%%proftrace fails\nblock[1 << 40]",
    "%%proftrace\nwrong = = 1",
    "%proftrace 1 / 0",
    "%reload_ext proftrace",
    "%proftrace 1 + 1",
]

shell, said = InteractiveShell.instance(colors="nocolor"), []
for cell in CELLS:
    with capture_output() as captured:
        result = shell.run_cell(cell)
    error = result.error_in_exec or result.error_before_exec
    said.append({"cell": cell, "out": captured.stdout, "error": type(error).__name__ if error else None})
print(json.dumps(said))
