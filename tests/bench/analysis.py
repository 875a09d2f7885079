# SPDX-License-Identifier: MIT
"""The offline half: decode, report and export on traces that this run records."""
import glob
import os
import re
import shutil
import statistics
import subprocess

from measure import RESULT, folder_bytes, run_once


class Figure:
    def __init__(self, key, title, value, unit, note=""):
        self.key, self.title, self.value, self.unit, self.note = key, title, value, unit, note


def timed(places, command, env=None):
    """(wall s, CPU s, peak RSS MiB, stderr) of a command that must succeed."""
    done = subprocess.run([f"{places.programs}/b_start", "1", *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, env=env, check=False)
    text = done.stderr.decode(errors="replace")
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {text[-800:]}")
    _, wall_ns, _, cpu_ns, rss_kib = map(int, RESULT.findall(text)[-1])
    return wall_ns / 1e9, cpu_ns / 1e9, rss_kib / 1024, text


def median_of(repeats, places, command, env=None):
    runs = [timed(places, command, env) for _ in range(repeats)]
    return [statistics.median(r[i] for r in runs) for i in range(3)] + [runs[-1][3]]


def record(workload, tracer, size, places):
    """Record a workload; the run directory."""
    run_once(workload, tracer, size, places, keep_trace=True)
    return max(glob.glob(f"{places.traces}/proftrace/2*"), key=os.path.getmtime)


def decode_figures(run, places, repeats):
    wall, _, _, text = median_of(repeats, places, [f"{places.programs}/b_decode", run])
    events, _, _, cpu_ns, _ = map(int, RESULT.search(text).groups())
    return events, [Figure("decode", f"decode and merge of {events / 1e6:.1f} M heap events", events / cpu_ns * 1e3,
                           "M events/s of CPU", f"{wall:.2f} s wall")]


def mixed_figures(places, repeats, quick, large):
    """All analyses and all report files, as `proftrace run` ends with, on runs of 16 processes with 4 threads each that read, wait,
    lock, talk, allocate and use GPUs all at once, with what the launcher adds: b_trace.c."""
    found = []
    for events in [200000] if quick else [10**7, 10**8, 10**9] if large else [10**7, 10**8]:
        run, key = f"{places.data}/mixed", f"mixed-{events // 10**6}"
        timed(places, [f"{places.programs}/b_trace", run, str(events)])
        megabytes = folder_bytes(run) / 1e6
        rounds = 1 if quick or events > 10**7 else max(repeats, 9)  # a second or two each: the machine's moods last longer
        wall, cpu, rss, _ = median_of(rounds, places, [f"{places.programs}/b_report", run])
        found.append(Figure(key, f"all analyses and report files, {events / 1e6:,.1f} M events of 64 threads", wall, "s",
                            f"{cpu:.2f} s of CPU, {megabytes:,.0f} MB of trace"))
        found.append(Figure(f"{key}-cpu", "its CPU time, shared by two cores", cpu / 2, "s"))
        found.append(Figure(f"{key}-rss", "its peak memory", rss, "MiB"))
        shutil.rmtree(run)
    return found


def export_figures(run, places, proftrace, repeats):
    """Both timelines as they are written by default, and the other way; one after another in each round."""
    forms = {"chrome": ("Chrome export, gzip'ed", "chrome", "t.json.gz"), "chrome-plain": ("Chrome export", "chrome", "t.json"),
             "perfetto": ("Perfetto export", "perfetto", "t.pftrace"),
             "perfetto-gzip": ("Perfetto export, gzip'ed", "perfetto", "t.pftrace.gz")}
    runs = {key: [] for key in forms}
    for _ in range(repeats):
        for key, (_, form, name) in forms.items():
            path = f"{places.traces}/{name}"
            done = timed(places, [proftrace, "export", run, "--to", form, "--force", "-o", path])
            slices = int(re.search(r" (\d+) slices", done[3]).group(1))
            runs[key].append((slices / done[0] / 1e6, *done[:3], os.path.getsize(path) / 1e6))
            os.unlink(path)
    found = []
    for key, (title, _, _) in forms.items():
        speed, wall, cpu, rss, megabytes = (statistics.median(column) for column in zip(*runs[key]))
        found.append(Figure(key, f"{title}, {slices / 1e6:.1f} M slices", speed, "M slices/s",
                            f"{wall:.2f} s wall, {cpu:.2f} s of CPU, peak RSS {rss:.0f} MiB, {megabytes:.0f} MB"))
    return found


def figures(by_key, tracers, places, proftrace, repeats, quick, large=False):
    found = []
    pairs, calls = by_key["M1"], by_key["I1"]
    run = record(pairs, tracers["full"], pairs.quick if quick else 5000000, places)
    events, decoded = decode_figures(run, places, repeats)
    found += decoded
    wall, cpu, rss, _ = median_of(repeats, places, [proftrace, "report", run, "-o", "/dev/null"])
    found.append(Figure("report", f"`proftrace report` on {events / 1e6:.1f} M heap events", wall, "s",
                        f"{cpu:.2f} s of CPU, peak RSS {rss:.0f} MiB"))
    found.append(Figure("report-rss", "its peak memory", rss, "MiB"))
    found += mixed_figures(places, repeats, quick, large)
    run = record(calls, tracers["sampled"], calls.quick if quick else 1000000, places)
    return found + export_figures(run, places, proftrace, repeats)
