#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""P2: JSON and dictionary churn. With PYTHONMALLOC=malloc (P2m) every object goes through malloc.   usage: b_json.py [ROUNDS]"""
import json
import random
import sys

from result import Bench

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
rng, bench, check = random.Random(1), Bench(), 0
for _ in range(rounds):
    table = {f"key{i}": {"id": i, "v": [rng.random() for _ in range(8)], "s": "x" * (i % 700), "t": {"a": str(i), "b": None}}
             for i in range(1500)}
    text = json.dumps(table)
    again, groups = json.loads(text), {}
    for key, row in again.items():
        groups.setdefault(row["id"] % 97, []).append((key, row["s"].upper(), sum(row["v"])))
    check ^= len(text) ^ sum(len(g) for g in groups.values())
bench.print(rounds)
