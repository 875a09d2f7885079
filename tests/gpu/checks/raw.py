# SPDX-License-Identifier: MIT
"""Raw CUPTI buffers of this machine, kept as golden input of the replay tests of tests/fakecuda."""
import collections
import glob
import json
import os
import shutil

from gpu_case import Skip


def launch_cbids(paths):
    """By which calls kernels were launched: 211 is cudaLaunchKernel, 505 what nvcc 13 compiles <<<>>> to."""
    calls, kernels = {}, []
    for path in paths:
        with open(path, encoding="latin-1") as file:
            for line in file:
                record = json.loads(line)
                if record["record"] == "runtime":
                    calls[record["correlationId"]] = record["cbid"]
                elif record["record"] == "kernel":
                    kernels.append(record["correlationId"])
    return dict(collections.Counter(str(calls[k]) for k in kernels if k in calls))


def raw_buffers(context):
    """Captured by the toy profiler of tests/fakecuda, which runs on a real CUPTI as well."""
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    client = os.path.join(os.path.dirname(context.proftrace), "fakecuda", "client.so")
    if not os.path.exists(client):
        raise Skip("fakecuda/client.so is not in the build")
    prefix = os.path.join(context.folder, "raw")
    context.bare([context.programs["work_shared"], "streams", "400"],
                 env={"CUDA_INJECTION64_PATH": client, "CLIENT_RAW": prefix, "CLIENT_OUT": prefix})
    kept = {"launch_cbids": launch_cbids(glob.glob(prefix + ".*.jsonl"))}
    assert kept["launch_cbids"], "no kernel has a call of the runtime"
    for path in glob.glob(prefix + ".*.bin")[:1]:
        target = os.path.join(context.out, "cupti-raw.bin")
        shutil.copyfile(path, target)
        kept["cupti-raw.bin"] = os.path.getsize(target)
    assert "cupti-raw.bin" in kept, "no raw buffer came"
    return kept


CHECKS = [raw_buffers]
