# SPDX-License-Identifier: MIT
"""Makes objects from text and drops them, again and again: Python maps and unmaps memory for them, which no variable of malloc
changes, nor larger buffers."""
import gc
import json

import planted

TEXT = json.dumps([{"id": i, "name": f"name{i}", "values": [i, 2 * i, 3.5 * i]} for i in range(60000)])


def run():
    gc.disable()  # else it is a fifth of this, and a finding
    for _ in range(12):
        rows = json.loads(TEXT)
        del rows


planted.main(run, run)
