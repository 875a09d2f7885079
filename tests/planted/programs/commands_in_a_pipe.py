# SPDX-License-Identifier: MIT
"""A script that starts a command for each line of what comes by a pipe: the loop goes on in a copy of the shell; the fixed one starts one
for all."""
import subprocess

import planted

BAD = """seq 400 | while read -r number; do
    echo "$(printf '%s\\n' "$number" | cksum) $number"
done | sort > sums"""
FIXED = "seq 400 | cksum > sums"


planted.main(lambda: subprocess.run(["sh", "-c", BAD], check=True), lambda: subprocess.run(["sh", "-c", FIXED], check=True))
