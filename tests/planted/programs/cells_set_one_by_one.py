# SPDX-License-Identifier: MIT
"""Sets the cells of two columns one by one; the fixed program whole columns. Both then compute."""
import numpy as np
import pandas as pd
import planted

ROWS = 12_000
table = pd.DataFrame({"price": np.arange(ROWS) % 91 + 0.5, "kind": np.arange(ROWS) % 7})


def costs(is_fixed):
    means = table.groupby("kind")["price"].mean()
    if is_fixed:
        table["share"] = table["price"] / table["kind"].map(means)
        table["is_large"] = table["share"] > 1
        return
    table["share"], table["is_large"] = 0.0, False
    for i, row in enumerate(table.itertuples(index=False)):
        table.loc[i, "share"] = row.price / means[row.kind]  # planted here
        table.loc[i, "is_large"] = row.price > means[row.kind]  # planted here


def run(is_fixed):
    costs(is_fixed)
    print(table.sum())
    planted.compute(1)


planted.main(lambda: run(False), lambda: run(True))
