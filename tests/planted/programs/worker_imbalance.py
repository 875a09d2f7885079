# SPDX-License-Identifier: MIT
"""Two processes share the work, one gets nine tenths of it; the fixed one halves it."""
import multiprocessing

import planted


def run(shares):
    workers = [multiprocessing.Process(target=planted.compute_for, args=(2.4 * share,)) for share in shares]  # planted here
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


planted.main(lambda: run([0.9, 0.1]), lambda: run([0.5, 0.5]), planted.measure)
