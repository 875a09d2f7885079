# SPDX-License-Identifier: MIT
"""A table of labels that is read and parsed again for each batch, where once would do. The file is in memory: to read it costs nothing."""
import planted

NAMES, BATCHES = 8_000, 300


def read_labels(path):
    table = {}
    with open(path) as file:
        for line in file:  # planted here
            key, value = line.split(",")  # planted here
            table[key] = int(value)  # planted here
    return table


def use(labels, batch):
    total = 0
    for i in range(50_000):
        total += labels[f"name{(batch * 31 + i) % NAMES}"]
    return total


def prepare():
    with open("labels.csv", "w") as file:
        for i in range(NAMES):
            file.write(f"name{i},{i % 10}\n")


def work(is_fixed):
    labels = None
    for batch in range(BATCHES):
        if labels is None or not is_fixed:
            labels = read_labels("labels.csv")
        use(labels, batch)


planted.main(lambda: work(False), lambda: work(True), prepare)
