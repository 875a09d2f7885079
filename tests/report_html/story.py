# SPDX-License-Identifier: MIT
"""A pipeline of seven stages as the launcher and the library would have recorded it: one with a GPU, one skipped, one that
ran into its time limit, one that failed; a sampler that was kept from running for a while. Nothing here is random."""
import json
import math
import os
import subprocess

import pcp

NS = 1000000000
GIB, MIB = 1 << 30, 1 << 20
NO_GPU = "no NVIDIA driver: libnvidia-ml.so.1 cannot be loaded"

# name, start, seconds, status, reason, exit code
STAGES = [
    ("fetch-dataset", 0, 18, "ok", None, 0),
    ("check-augment", 18.5, 12, "ok", None, 0),
    ("generate-dataset", 31, 62, "ok", None, 0),
    ("fetch-dinov3", 93, 0, "skipped", "not asked for: pass --with-dinov3", None),
    ("train", 93.5, 240, "ok", None, 0),
    ("infer", 334, 60, "timeout", "ran longer than its limit of 60 s", 143),
    ("grade", 394.5, 9, "failed", "exit 1", 1),
]


def wave(t, period):
    return 0.5 + 0.5 * math.sin(2 * math.pi * t / period)


def level(stage, t):
    """CPU percent, RSS, bytes per second read, written, received; GPU percent and memory."""
    if stage == "fetch-dataset":
        return 12 + 20 * wave(t, 7), 180 * MIB, 0, 40 * MIB * wave(t, 9), 42 * MIB * wave(t, 9), 0, 0.4 * GIB
    if stage == "check-augment":
        return 97, 420 * MIB + 5 * MIB * t, 8 * MIB, 0, 0, 0, 0.4 * GIB
    if stage == "generate-dataset":
        return 280 + 110 * wave(t, 5), 1.1 * GIB + 300 * MIB * wave(t, 20), 2 * MIB, 90 * MIB * wave(t, 4), 0, 0, 0.4 * GIB
    if stage == "train":
        busy = 94 if int(t / 6) % 4 else 16
        return 150 + 90 * wave(t, 6), (2.1 + 5.1 * min(1, t / 30)) * GIB, 60 * MIB * (t < 20), 0, 0, busy, (6.1 if t > 8 else 2) * GIB
    if stage == "infer":
        return 110, 3.4 * GIB, 30 * MIB * (t < 6), 1 * MIB, 0, 55 + 30 * wave(t, 11), 4.2 * GIB
    return 99, 600 * MIB, 4 * MIB, 0, 0, 0, 0.4 * GIB


def samples_of(stage, seconds, gpu):
    names = ("cpu_percent", "rss_bytes", "pss_bytes", "processes", "disk_read_bytes", "disk_write_bytes", "net_receive_bytes",
             "net_send_bytes", "cpu_pressure_percent", "io_pressure_percent", "memory_pressure_percent", "gpu_util_percent",
             "gpu_mem_bytes")
    table = {"t_ns": [], **{name: [] for name in names}}
    totals = [0, 0, 0]
    for i in range(1, int(seconds * 2) + 1):
        t = i / 2
        cpu, rss, *rates, busy, memory = level(stage, t)
        totals = [total + rate / 2 for total, rate in zip(totals, rates)]
        if stage == "train" and 130 < t < 150:
            continue  # the machine slept
        row = (round(cpu, 1), int(rss), int(rss * 0.83) if i % 8 == 1 else None, 1 + int(cpu // 100), int(totals[0]),
               int(totals[1]), int(totals[2]), int(totals[2] / 50), round(max(0, cpu - 250) / 4, 1),
               round(20 * wave(t, 4) if rates[1] > MIB else 0.5, 1), 0, busy if gpu else None, int(memory) if gpu else None)
        table["t_ns"].append(int(t * NS))
        for name, value in zip(names, row):
            table[name].append(value)
    return table


def resource(values, total):
    known = [v for v in values if v is not None]
    if not known:
        return {"max": None, "mean": None, "last": None, "reason": NO_GPU}
    return {"max": max(known), "mean": known[-1] if total else round(sum(known) / len(known), 2), "last": known[-1]}


def stage_record(name, start, seconds, status, reason, code, gpu):
    record = {"stage": name, "status": status, "reason": reason, "command": ["/opt/pipeline/" + name, "--out", "runs/latest"],
              "cwd": "/srv", "log": f"logs/{name}.log", "start_ns": int(start * NS), "duration_ns": int(seconds * NS)}
    if status == "skipped":
        return record
    samples = samples_of(name, seconds, gpu)
    resources = {key: resource(values, key.startswith(("disk_", "net_"))) for key, values in samples.items() if key != "t_ns"}
    cpu = resources["cpu_percent"]
    record.update(
        exit="signal 15 (SIGTERM)" if status == "timeout" else f"exit {code}", exit_code=code, resources=resources,
        samples=samples, cpu_s=round(cpu["mean"] * seconds / 100, 2), cpu_percent_avg=cpu["mean"], cpu_percent_max=cpu["max"],
        rss_max_bytes=resources["rss_bytes"]["max"],
        left_running=[{"pid": 4711, "command": "redis-server *:0"}] if name == "infer" else [])
    return record


def run_record(gpu):
    return {
        "schema_version": "1.0", "cwd": "/srv", "host": "gpu-box-1", "start_realtime_ns": 1795262400 * NS,
        "interval_ns": NS // 2, "duration_ns": 404 * NS,
        "machine": {"cpus": 8, "memory_bytes": 32 * GIB, "gpus": ["NVIDIA H200"] if gpu else []},
        "pipeline": {"config": "/srv/config.json", "dataset": "coco128", "train_epochs": 50,
                     "thresholds": {"cpu_percent": 90, "memory_percent": 85, "disk_percent": 80, "sustained_s": 10},
                     "quality_file": "/srv/grade.json",
                     "quality": [{"key": "run_grade_0_100", "value": 72.5, "min": 50, "reason": None},
                                 {"key": "precision_proxy", "value": 0.41, "min": 0.5, "reason": None},
                                 {"key": "recall_proxy", "value": None, "min": None, "reason": "the grade report has no such key"}]},
        "stages": [stage_record(*stage, gpu) for stage in STAGES],
        "untraced": [{"stage": "fetch-dataset", "path": "/usr/bin/busybox", "reason": "statically linked"}],
        "notes": ["the sampler missed 40 of 802 samples"],
    }


# ---- what the library recorded ----

def events_of(name, pid, start, seconds):
    who = f"{pid}/{pid}"
    if name == "fetch-dataset":
        for i in range(16):
            yield f"{start + 1 + i:.9f} +0.120000000 {who} io_write fd=4 result=33554432 path=\"/srv/data/coco128.zip\" requested_bytes=33554432"
    if name == "check-augment":
        for i in range(120):
            yield f"{start + .5 + i * .09:.9f} +0.001000000 {who} meta_stat result=-2 path=\"/srv/cache/augment/{i % 7}/{i:03}.npz\" flags=0x0"
    if name == "generate-dataset":
        for i in range(400):
            at = start + .2 + i * .15
            path = f"/srv/data/images/{i // 4:06}.jpg"
            yield f"{at:.9f} +0.004000000 {who} io_open fd=5 result=5 path=\"{path}\" flags=O_RDONLY"
            yield f"{at + .01:.9f} +0.060000000 {who} io_read fd=5 result=131072 path=\"{path}\" requested_bytes=131072"
    if name == "train":
        for i in range(60):
            at = start + 2 + i * 3.9
            yield f"{at:.9f} {who} step number={i}"
            yield f"{at + .1:.9f} {who} range_begin name=\"data\""
            yield f"{at + .2:.9f} +1.100000000 {who} stdio_read fd=3 bytes=6553600 path=\"/srv/data/shard-{i % 4}.bin\""
            yield f"{at + 1.5:.9f} {who} range_end"
            yield f"{at + 1.6:.9f} {who} range_begin name=\"forward\""
            yield f"{at + 1.7:.9f} {who} heap_sample stack=[0x401000 0x402000] function=heap_malloc addr={0x7f0000000000 + i * 65536:#x} size_bytes=1048576"
            yield f"{at + 3.2:.9f} {who} range_end"
    if name == "infer":
        for i in range(50):
            yield f"{start + 1 + i:.9f} +0.300000000 {who} io_read fd=6 result=4096 path=\"/srv/runs/latest/weights.pt\" requested_bytes=4096"


def trace():
    yield "proftrace-text 1 start_realtime_ns=1795262400000000000"
    for i, (name, start, seconds, status, _, code) in enumerate(STAGES):
        if status == "skipped":
            continue
        pid = 1000 + i
        ended = f"state=exited exit_status={code}" if status != "timeout" else "state=live"
        yield (f"process {pid} ppid=1 uid=1000 trace_id={pid:#x} start={start:.9f} end={start + seconds:.9f} {ended} heap=sampled "
               f"heap_sample_bytes=524288 cpu_ns={int(seconds * NS)} max_rss_bytes=268435456 boot=\"b\" host=\"gpu-box-1\" "
               f"stage=\"{name}\" comm=\"{name[:15]}\" exe=\"/opt/pipeline/{name}\" cwd=\"/srv\" argc=1 argv=[\"{name}\"]")
        yield f"thread {pid}/{pid} slot=0 life=1 start={start:.9f}"
        yield f"module {pid} start=0x400000 end=0x500000 bias=0x0 since={start:.9f} build_id= path=\"/opt/pipeline/{name}\""
        yield from events_of(name, pid, start, seconds)
        yield f"heap {pid} slot=0 frees=9000 failures=0 classes=[16:10000:2560000]"


def write_profiles(folder):
    """What the launcher's sampler saw: the training, its workers, and one stage where it was refused."""
    python, torch = ["start", "python3.11", "libpython3.11.so"], ["libtorch_python.so", "libtorch_cpu.so"]
    pcp.write(folder, 4, [
        (0, [*python, *torch, "libmkl.so"], 9000), (0, [*python, *torch, "batch_norm", "[kernel]"], 1500),
        (0, [*python, *torch, *(f"autograd-{i}" for i in range(30)), "a_kernel_with_a_name_that_no_box_can_hold" * 4], 2500),
        (0, python, 3000), (0, ["[cut]", "libjpeg.so"], 700), (1, [*python, "libjpeg.so"], 4000), (2, [*python, "libjpeg.so"], 3500),
        (2, [*python, "[kernel]"], 400)], threads=(("train", 1004), ("worker", 1104), ("worker", 1105)))
    pcp.write(folder, 1, [(0, [*python, "numpy.so"], 600)], threads=(("check-augment", 1001),))
    pcp.write(folder, 5, [], threads=(("infer", 1005),), note="perf events are refused: perf_event_paranoid is 4")


def write(proftrace, folder, gpu=True):
    """The run directory of the story."""
    os.makedirs(os.path.join(folder, "logs"))
    text = folder + ".pt.txt"
    with open(text, "w", encoding="utf-8") as file:
        file.write("\n".join(trace()) + "\n")
    subprocess.run([proftrace, "assemble", text, "-o", folder], check=True, timeout=60)
    with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
        json.dump(run_record(gpu), file)
    write_profiles(folder)
    with open(os.path.join(folder, "logs", "grade.log"), "w", encoding="utf-8") as file:
        file.write("loading predictions\n" * 30 + "Traceback (most recent call last):\n  File \"grade.py\", line 41, in <module>\n"
                   "KeyError: '<b>recall</b>'\n")
    with open(os.path.join(folder, "logs", "infer.log"), "w", encoding="utf-8") as file:
        file.write("".join(f"\r{i} %" for i in range(71)) + "\nimage 912 of 1280\n")
