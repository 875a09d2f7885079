# SPDX-License-Identifier: MIT
"""Masks 600 names in each text, each by a pattern of its own: more than the module keeps. The fixed program has one pattern."""
import re

import planted

NAMES = [f"name{number}" for number in range(600)]
TEXTS = [f"this is name{number} and name{number * 7 % 600}, who met" for number in range(60)]
all_names = re.compile(r"\b(?:" + "|".join(NAMES) + r")\b", re.IGNORECASE)


def mask(text):
    for name in NAMES:
        text = re.sub(r"\b" + name + r"\b", "PERSON", text, flags=re.IGNORECASE)  # planted here
    return text


def run(is_fixed):
    masked = [all_names.sub("PERSON", text) if is_fixed else mask(text) for text in TEXTS]
    print(sum(text.count("PERSON") for text in masked))
    planted.compute(1)


planted.main(lambda: run(False), lambda: run(True))
