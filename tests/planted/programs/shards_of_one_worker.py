# SPDX-License-Identifier: MIT
"""Two processes count words in shards that were dealt out in advance, five to one and one to the other; in the fixed program three to each.
The results come by a queue."""
import multiprocessing

import planted


def count(shards, results):
    for _ in shards:
        planted.compute(0.8)  # planted here
        results.put([0] * 1000)


def run(parts):
    results = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=count, args=(part, results)) for part in parts]
    for worker in workers:
        worker.start()
    for _ in range(6):
        results.get()
    for worker in workers:
        worker.join()


planted.main(lambda: run(["abcde", "f"]), lambda: run(["abc", "def"]))
