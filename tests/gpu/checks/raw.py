# SPDX-License-Identifier: MIT
"""Raw CUPTI buffers of this machine, kept as golden input of the replay tests of tests/fakecuda."""
import glob
import os
import shutil

from gpu_case import Skip


def raw_buffers(context):
    if "work_shared" not in context.programs:
        raise Skip("work_shared is not built: it needs nvcc")
    folder = os.path.join(context.folder, "raw")
    os.makedirs(folder)
    context.traced([context.programs["work_shared"], "streams", "800"], env={"PROFTRACE_CUPTI_RAW": folder})
    files = glob.glob(os.path.join(folder, "*"))
    if not files:
        raise Skip("the library wrote no raw buffers")
    kept = {}
    for path in files[:2]:
        target = os.path.join(context.out, "cupti-" + os.path.basename(path))
        shutil.copyfile(path, target)
        kept[os.path.basename(target)] = os.path.getsize(target)
    return kept


CHECKS = [raw_buffers]
