# SPDX-License-Identifier: MIT
"""What finding the stacks of heap samples takes of a program that allocates as fast as it can: as many as were taken, times what one
takes there by the program's own measure."""
import json
import os
import re
import shutil
import subprocess

from analysis import Figure
from measure import environment


def figures(workload, sampled, places, proftrace, quick):
    storm = os.path.join(places.programs, "../tests/fault/storm_known")
    if not os.path.exists(storm):
        return []
    env = environment(workload, sampled)
    shutil.rmtree(places.traces, ignore_errors=True)
    os.makedirs(places.traces)
    told = subprocess.run([storm, "300" if quick else "5000"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout
    known = {key: int(value) for key, value in re.findall(r"(\w+) (\d+)", told)}
    report = json.loads(subprocess.run([proftrace, "report", os.path.join(env["PROFTRACE_DIR"], "latest"), "--format", "json", "--full"],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)
    taken = sum(site["samples"] for site in report["stages"][0]["heap_sites"])
    gib = (known["often"] + known["seldom"]) * 4096 / 2**30
    return [Figure("unwinding", "stacks of heap samples, of a program that allocates all the time", 100 * taken * known["unwinding_ns"] / known["cpu_ns"],
                   "% of its CPU time", f"{gib:,.0f} GiB allocated, {taken} stacks")]
