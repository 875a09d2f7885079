# SPDX-License-Identifier: MIT
"""datasets.map with two processes, a memory map, and SQLite without an index."""
import os
import sqlite3

os.environ["HF_HUB_OFFLINE"] = "1"
import datasets  # noqa: E402
import numpy as np  # noqa: E402

datasets.disable_progress_bars()
datasets.logging.set_verbosity_error()


def featurize(row):
    return {"n": sum(ord(c) % 7 for c in row["text"])}


if __name__ == "__main__":
    data = datasets.Dataset.from_dict({"text": [f"sample {i} " * 40 for i in range(4000)]})
    data = data.map(featurize, num_proc=2)
    print(sum(data["n"]))
    memory = np.memmap("numbers", dtype=np.float32, mode="w+", shape=(2_000_000,))
    memory[:] = np.arange(2_000_000) % 97
    print(float(memory[::64].sum()))
    db = sqlite3.connect("s.db")
    db.execute("CREATE TABLE s(k INTEGER, v TEXT)")
    with db:
        db.executemany("INSERT INTO s VALUES(?, ?)", ((i, "x" * 200) for i in range(60_000)))
    print(sum(len(db.execute("SELECT v FROM s WHERE k = ?", (i * 37,)).fetchone()[0]) for i in range(60)))
