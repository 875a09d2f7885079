# SPDX-License-Identifier: MIT
"""Asks a database for rows by a column without an index: each question reads the whole table again. The fixed one makes the index."""
import sqlite3

import planted

ROWS, QUESTIONS = 100_000, 60


def ask(has_index):
    with sqlite3.connect("samples.db") as database:
        if has_index:
            database.execute("CREATE INDEX IF NOT EXISTS by_name ON samples (name)")
        for i in range(QUESTIONS):
            database.execute("SELECT COUNT(*) FROM samples WHERE name = ?", (f"sample-{i * 7}",)).fetchone()  # planted here


def prepare():
    with sqlite3.connect("samples.db") as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("CREATE TABLE IF NOT EXISTS samples (id INTEGER PRIMARY KEY, name TEXT, data BLOB)")
        database.executemany("INSERT INTO samples (name, data) VALUES (?, ?)", ((f"sample-{i}", bytes(200)) for i in range(ROWS)))


planted.main(lambda: ask(False), lambda: ask(True), prepare)
