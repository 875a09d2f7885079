# SPDX-License-Identifier: MIT
"""Times: kernels lie behind their launches on the tracer's clock, and inside the synchronised interval."""
from gpu_case import Skip, median


def skew(context):
    """Start of a kernel minus start of the call that launched it; a few microseconds below 0 are the clocks' own skew."""
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    _, run = context.traced([context.programs["work_shared"], "plain", "5000"])
    events = context.events(run)
    launched = {e["correlation"]: e["start_ns"] for e in events if e["event"] == "cuda_call" and e["class"] in (1, 2)}
    after = sorted(e["start_ns"] - launched[e["correlation"]] for e in events
                   if e["event"] == "gpu_kernel" and e["correlation"] in launched)
    assert after, "no kernel could be joined to its launch"
    values = {"joined": len(after), "least_ns": after[0], "p1_ns": after[len(after) // 100], "median_ns": median(after)}
    assert values["p1_ns"] > -20000, values
    return values


def bad_times(context):
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    _, run = context.traced([context.programs["work_shared"], "streams", "80000"])
    lost = [(e.get("reason"), e["records"]) for e in context.events(run) if e["event"] == "gpu_lost"]
    return {"lost": lost}


CHECKS = [skew, bad_times]
