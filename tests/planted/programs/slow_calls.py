# SPDX-License-Identifier: MIT
"""A request for each question, a deep copy of the same template; the fixed one copies its outer dictionary alone."""
import copy

import planted

TEMPLATE = {"layers": [{"id": i, "width": 64} for i in range(60)], "tags": [f"tag{i}" for i in range(40)]}


def build_request(question, copied):
    request = copied(TEMPLATE)
    request["question"] = question
    return request


def run(copied):
    return sum(len(build_request(f"question {i}", copied)["layers"]) for i in range(16000))


planted.main(lambda: run(copy.deepcopy), lambda: run(dict))
