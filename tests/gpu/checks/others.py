# SPDX-License-Identifier: MIT
"""Other tools and outside views: ncu and compute-sanitizer hold CUPTI, NVML and nvidia-smi watch from the launcher."""
import ctypes
import re
import shutil

from gpu_case import Skip, counts


def under(context, tool, argv):
    found = shutil.which(tool)
    if not found:
        raise Skip(f"{tool} is not installed")
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    done, run = context.traced([found, *argv, context.programs["work_shared"], "plain", "20"], timeout=300, check=False)
    events = context.events(run)
    return done, events


def ncu(context):
    """Kernels that Nsight Compute counts and times; under it CUPTI is taken, and the trace says so."""
    done, events = under(context, "ncu", ["--clock-control", "none", "--csv", "--metrics", "gpu__time_duration.sum"])
    rows = [line for line in done.stdout.splitlines() if "gpu__time_duration.sum" in line]
    if not rows:
        raise Skip(f"ncu gave no counters here: {(done.stdout + done.stderr)[-300:]}")
    states = [(e["state"], e.get("reason")) for e in events if e["event"] == "gpu_tracing"]
    _, run = context.traced([context.programs["work_shared"], "plain", "20"])
    ours = [e["duration_ns"] for e in context.events(run) if e["event"] == "gpu_kernel"]
    theirs = [float(re.findall(r'"([^"]*)"', row)[-1].replace(",", "")) for row in rows]
    assert len(ours) == len(theirs), (len(ours), len(theirs))
    return {"kernels": len(theirs), "ncu_sum": sum(theirs), "ours_sum_ns": sum(ours), "states": states}


def compute_sanitizer(context):
    done, events = under(context, "compute-sanitizer", [])
    assert done.returncode == 0, done.stderr[-300:]
    return {"exit": done.returncode, "states": [(e["state"], e.get("reason")) for e in events if e["event"] == "gpu_tracing"],
            **counts(events)}


def launcher_sees_the_gpu(context):
    """proftrace run beside a busy GPU: utilisation, memory, power and energy are numbers, not null."""
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        raise Skip("there is no NVML") from None
    out = context.folder + "/sampled"
    context.bare([context.proftrace, "run", "-o", out, "--no-report", "--interval", "200", "--",
                  "sh", "-c", f"for i in 1 2 3; do {context.programs['work_shared']} plain 60000; done"], timeout=120)
    stage = context.report(out)["stages"][0]
    values = {key: stage.get(key) for key in ("gpu_util_percent_avg", "gpu_mem_mb_max", "duration_s")}
    assert values["gpu_mem_mb_max"] is not None, stage
    return values


CHECKS = [ncu, compute_sanitizer, launcher_sees_the_gpu]
