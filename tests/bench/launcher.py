# SPDX-License-Identifier: MIT
"""What the launcher itself uses: its samples of resources, and its CPU profile."""
import os
import shutil
import statistics
import struct
import subprocess
import sys
import time

from analysis import Figure, timed
from measure import environment
from workloads import HERE, PYTHON

sys.path.insert(0, os.path.dirname(HERE))
from stolen import no_schedstat  # noqa: E402

TORCH = "import torch\ntorch.set_num_threads(1)\nfor i in range(10000): torch.nn.Linear(64, 64)(torch.randn(64, 64)).sum().backward()\n"
TOTALS = 7  # the chunk of a profile's totals: docs/format.md


def sleeping_tree(places, proftrace, env, seconds):
    """CPU that `proftrace run` itself uses beside a sleeping process."""
    _, bare, _, _ = timed(places, ["sleep", str(seconds)])
    _, cpu, _, _ = timed(places, [proftrace, "run", "--no-report", "--", "sleep", str(seconds)], env)
    return Figure("launcher", "launcher, sampling the tree every 500 ms", 100 * (cpu - bare) / seconds, "% of a core")


def large_tree(proftrace, env, seconds):
    """The same with 200 processes, once they have started: the launcher's own CPU time, from the scheduler."""
    def cpu_s(pid):
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e9
    script = f"for i in $(seq 200); do sleep {seconds + 4} & done; wait"
    with subprocess.Popen([proftrace, "run", "--no-report", "--", "sh", "-c", script], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(2)
        before, begin = cpu_s(process.pid), time.monotonic()
        time.sleep(seconds)
        share = 100 * (cpu_s(process.pid) - before) / (time.monotonic() - begin)
    return Figure("launcher-200", "launcher, sampling a tree of 200 processes", share, "% of a core")


def profile_totals(path):
    """Samples and the CPU time that they took; the last totals of the file count."""
    with open(path, "rb") as file:
        data = file.read()
    at, totals = struct.unpack_from("<I", data, 12)[0], None
    while at + 16 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == TOTALS:
            totals = struct.unpack_from("<7Q", data, at + 16)
        at += 16 + size
    return totals and (totals[1], totals[6])


def source_for_gcc(places):
    """A few seconds of work for the compiler."""
    path = f"{places.data}/many.c"
    with open(path, "w", encoding="ascii") as file:
        for i in range(500):
            file.write(f"int f{i}(int *a, int n) {{ int s = {i}; for (int i = 0; i < n; i++) s += a[i] * s ^ {i}; return s; }}\n")
    return ["gcc", "-O2", "-c", path, "-o", f"{places.data}/many.o"]


def programs(places, quick):
    """Name, command; what is not installed is left out."""
    found = [("python", [PYTHON, f"{HERE}/b_json.py", "10" if quick else "120"])]
    if not quick and not subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode:
        found.append(("torch", [PYTHON, "-c", TORCH]))
    if shutil.which("gcc"):
        found.append(("gcc", source_for_gcc(places)))
    return found


def profile_figures(places, proftrace, env, repeats, quick):
    """What a hundred samples cost: a second of one busy thread."""
    found = []
    for name, command in programs(places, quick):
        runs = []
        for _ in range(repeats):
            out = f"{places.traces}/profiled"
            shutil.rmtree(out, ignore_errors=True)
            subprocess.run([proftrace, "run", "--no-report", "-o", out, "--", *command], env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            path = f"{out}/cpu-0.pcp"
            totals = os.path.exists(path) and profile_totals(path)
            if totals and totals[0] >= 10:
                runs.append((totals[1] / totals[0], totals[0]))
        if runs:
            ns, samples = (statistics.median(column) for column in zip(*runs))
            found.append(Figure(f"profile-{name}", f"CPU profile of {name}, 100 samples a second", ns * 100 / 1e7, "% of a core",
                                f"{ns / 1e3:.0f} us for each of {samples:.0f} samples"))
    return found


def figures(workload, bare, places, proftrace, repeats, quick):
    env = environment(workload, bare)
    env["PROFTRACE_DIR"] = f"{places.traces}/launcher"
    large = [] if no_schedstat() else [large_tree(proftrace, env, 3 if quick else 20)]
    return [sleeping_tree(places, proftrace, env, 2 if quick else 10), *large, *profile_figures(places, proftrace, env, repeats, quick)]
