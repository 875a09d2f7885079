# SPDX-License-Identifier: MIT
"""What speedscope's format asks for: its schema, and what no schema can say."""
import json
import pathlib

import jsonschema

SCHEMA = json.loads((pathlib.Path(__file__).parent / "speedscope.schema.json").read_text(encoding="utf-8"))


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def problems_of(text):
    """Why speedscope would not show it, or show something else."""
    document = json.loads(text, parse_constant=refuse)
    problems = [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(document)]
    if problems:
        return problems
    n_frames = len(document["shared"]["frames"])
    for number, profile in enumerate(document["profiles"]):
        problems += [f"profile {number}: {problem}" for problem in problems_of_profile(profile, n_frames)]
    if document.get("activeProfileIndex", 0) >= max(1, len(document["profiles"])):
        problems.append("activeProfileIndex: there is no such profile")
    return problems


def problems_of_profile(profile, n_frames):
    if profile["endValue"] < profile["startValue"]:
        yield "it ends before it starts"
    if profile["type"] == "evented":
        yield "we write none of these"
        return
    samples, weights = profile["samples"], profile["weights"]
    if len(samples) != len(weights):
        yield f"{len(samples)} samples and {len(weights)} weights"
    if any(frame >= n_frames for sample in samples for frame in sample):
        yield f"a sample has a frame that is not among the {n_frames}"
    # Weights are rounded to what the writer prints, each of them.
    if abs(profile["startValue"] + sum(weights) - profile["endValue"]) > 1e-3 * len(weights) + 1:
        yield f"its weights sum up to {sum(weights)}, not from {profile['startValue']} to {profile['endValue']}"
