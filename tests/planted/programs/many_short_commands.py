# SPDX-License-Identifier: MIT
"""A script turns lines of a log into a table: for each line it starts cut and sed in copies of the shell; the fixed one gives all lines
to one awk."""
import os
import subprocess

import planted

LINES = 600
BAD = """while read -r time user item; do
    day=$(echo "$time" | cut -dT -f1)
    id=$(echo "$user" | sed 's/user//')
    echo "$day,$id,$item"
done
"""
FIXED = """awk '{ split($1, day, "T"); sub("user", "", $2); print day[1] "," $2 "," $3 }'
"""


def convert(script):
    with open("convert.sh", "w", encoding="ascii") as file:
        file.write(script)
    with open("log", encoding="ascii") as lines, open("table", "wb") as table:
        subprocess.run(["sh", "convert.sh"], stdin=lines, stdout=table, check=True)


def prepare():
    with open("log", "w", encoding="ascii") as file:
        file.writelines(f"2026-11-27T{i:06} user{i} item{i}\n" for i in range(LINES))
    assert not os.path.exists("table")


planted.main(lambda: convert(BAD), lambda: convert(FIXED), prepare)
