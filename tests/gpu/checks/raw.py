# SPDX-License-Identifier: MIT
"""Raw CUPTI buffers of this machine, kept as golden input of the replay tests of tests/fakecuda."""
import glob
import os
import shutil

from gpu_case import Skip


def raw_buffers(context):
    """Captured by the toy profiler of tests/fakecuda, which runs on a real CUPTI as well."""
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    client = os.path.join(os.path.dirname(context.proftrace), "fakecuda", "client.so")
    if not os.path.exists(client):
        raise Skip("fakecuda/client.so is not in the build")
    prefix = os.path.join(context.folder, "raw")
    context.bare([context.programs["work_shared"], "streams", "400"],
                 env={"CUDA_INJECTION64_PATH": client, "CLIENT_RAW": prefix})
    kept = {}
    for path in glob.glob(prefix + ".*.bin")[:1]:
        target = os.path.join(context.out, "cupti-raw.bin")
        shutil.copyfile(path, target)
        kept["cupti-raw.bin"] = os.path.getsize(target)
    assert kept, "no raw buffer came"
    return kept


CHECKS = [raw_buffers]
