# SPDX-License-Identifier: MIT
"""Has a function called with each row of a table; the fixed program computes with whole columns."""
import numpy as np
import pandas as pd
import planted

ROWS = 400_000
table = pd.DataFrame({"price": np.arange(ROWS) % 91 + 0.5, "count": np.arange(ROWS) % 7})


def cost_of(row):
    return row["price"] * row["count"] + 1


def run(is_fixed):
    costs = table["price"] * table["count"] + 1 if is_fixed else table.apply(cost_of, axis=1)  # planted here
    print(costs.sum())
    planted.compute(1)


planted.main(lambda: run(False), lambda: run(True))
