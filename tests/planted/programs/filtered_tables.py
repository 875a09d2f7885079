# SPDX-License-Identifier: MIT
"""Sums up the rows of each user, found by a mask over the whole table; the fixed program groups it once. It trains nothing."""
import numpy as np
import pandas as pd
import planted

ROWS, USERS = 3_000_000, 300
table = pd.DataFrame({"user": np.arange(ROWS) * 7 % USERS, "item": np.arange(ROWS) % 91})


def sums(is_fixed):
    if is_fixed:
        return table.groupby("user")["item"].sum().to_dict()
    found = {}
    for user in range(USERS):
        found[user] = table[table["user"] == user]["item"].sum()  # planted here
    return found


def run(is_fixed):
    print(sum(sums(is_fixed).values()))
    planted.compute(1)


planted.main(lambda: run(False), lambda: run(True))
