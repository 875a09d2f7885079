# SPDX-License-Identifier: MIT
"""Computes a column from the rows of a table, one by one; the fixed program from whole columns. Both then sort a table."""
import numpy as np
import pandas as pd
import planted

ROWS = 60_000
table = pd.DataFrame({"price": np.arange(ROWS) % 91 + 0.5, "count": np.arange(ROWS) % 7, "hour": np.arange(ROWS) % 24})


def costs(is_fixed):
    if is_fixed:
        return np.where(table["hour"].isin([8, 9, 17]), 2.0, 1.0) * table["price"] * table["count"]
    found = []
    for _, row in table.iterrows():
        rush = 2.0 if row["hour"] in (8, 9, 17) else 1.0
        found.append(rush * row["price"] * row["count"])  # planted here
    return pd.Series(found)


def run(is_fixed):
    print(costs(is_fixed).sum())
    planted.compute(1)


planted.main(lambda: run(False), lambda: run(True))
