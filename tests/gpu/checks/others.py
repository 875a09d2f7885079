# SPDX-License-Identifier: MIT
"""Other tools and outside views: ncu and compute-sanitizer hold CUPTI, NVML and nvidia-smi watch from the launcher."""
import csv
import ctypes
import shutil
import statistics
import time

from gpu_case import Skip, counts

WRAPPED = 2
UNITS_NS = {"nsecond": 1, "ns": 1, "usecond": 1e3, "us": 1e3, "msecond": 1e6, "ms": 1e6, "second": 1e9, "s": 1e9}


def under(context, tool, argv):
    found = shutil.which(tool)
    if not found:
        raise Skip(f"{tool} is not installed")
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    done, run = context.traced([found, *argv, context.programs["work_shared"], "plain", "20"], timeout=300, check=False)
    events = context.events(run)
    return done, events


def truthful(events):
    """Either all kernels are in the trace, or it says that it could not see them, and why."""
    said = [(e["state"], e.get("reason")) for e in events if e["event"] == "gpu_tracing"]
    kernels = counts(events)["gpu_kernel"]
    assert kernels == 22 or any(state == WRAPPED and reason for state, reason in said), f"{kernels} of 22 kernels, and it says {said}"
    return said


def ncu(context):
    """Kernels that Nsight Compute counts and times; under it CUPTI is taken, and the trace says so."""
    done, events = under(context, "ncu", ["--clock-control", "none", "--csv", "--metrics", "gpu__time_duration.sum"])
    begin = done.stdout.find('"ID"')
    rows = list(csv.DictReader(done.stdout[begin:].splitlines())) if begin >= 0 else []
    if not rows:
        raise Skip(f"ncu gave no counters here: {(done.stdout + done.stderr)[-300:]}")
    states = truthful(events)
    _, run = context.traced([context.programs["work_shared"], "plain", "20"])
    ours = [e["duration_ns"] for e in context.events(run) if e["event"] == "gpu_kernel"]
    theirs = [float(row["Metric Value"].replace(",", "")) * UNITS_NS[row["Metric Unit"]] for row in rows]
    assert len(ours) == len(theirs), (len(ours), len(theirs))
    values = {"kernels": len(theirs), "ncu_median_ns": statistics.median(theirs), "ours_median_ns": statistics.median(ours),
              "ncu_sum_ns": sum(theirs), "ours_sum_ns": sum(ours), "states": states}
    # it runs each kernel alone, on caches of its own making: a fifth, and a microsecond for the short ones
    assert abs(sum(ours) - sum(theirs)) <= 0.2 * sum(theirs) + 1000 * len(theirs), values
    return values


def compute_sanitizer(context):
    done, events = under(context, "compute-sanitizer", [])
    assert done.returncode == 0, done.stderr[-300:]
    return {"exit": done.returncode, "states": truthful(events), **counts(events)}


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


def nvml_costs(context):
    """Microseconds of what the launcher's sampler asks for, and of what it avoids asking."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        raise Skip("there is no NVML") from None
    begin = time.perf_counter()
    if nvml.nvmlInit_v2():
        raise Skip("NVML finds no driver")
    values = {"init_us": (time.perf_counter() - begin) * 1e6}
    device, room = ctypes.c_void_p(), ctypes.create_string_buffer(1 << 16)
    assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) == 0
    for name in ("UtilizationRates", "MemoryInfo", "PowerUsage", "TotalEnergyConsumption", "CurrentClocksEventReasons",
                 "ComputeRunningProcesses_v3"):
        function = getattr(nvml, f"nvmlDeviceGet{name}", None)
        if not function:
            continue
        begin = time.perf_counter()
        for _ in range(100):
            n = ctypes.c_uint(256)
            arguments = (ctypes.byref(n), room) if name.endswith("_v3") else (room,)
            result = function(device, *arguments)
        values[name] = {"result": result, "us": (time.perf_counter() - begin) * 1e4}
    nvml.nvmlShutdown()
    return values


CHECKS = [ncu, compute_sanitizer, launcher_sees_the_gpu, nvml_costs]
