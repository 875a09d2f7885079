# SPDX-License-Identifier: MIT
"""Nothing to complain about: a pool computes all the time, and the main process looks every 10 ms whether it is done, as joblib does."""
import multiprocessing
import time

import planted


def work(_):
    return planted.compute(0.25)


def run():
    with multiprocessing.Pool(2) as pool:
        results = [pool.apply_async(work, (i,)) for i in range(12)]
        while not all(result.ready() for result in results):
            time.sleep(0.01)


if __name__ == "__main__":
    planted.main(run, run)
