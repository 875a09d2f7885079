# SPDX-License-Identifier: MIT
"""What two readers of torch.profiler's files find in a folder of them, as JSON: load_export.py FOLDER

Holistic Trace Analysis: rows and their time. TensorBoard's plugin, by its own loader: views, and calls of each operator."""
import json
import os
import sys


def by_hta(folder):
    from hta.trace_analysis import TraceAnalysis
    analysis = TraceAnalysis(trace_dir=folder)
    events = analysis.t.get_trace(0)
    return {"slices": len(events), "dur_us": float(events["dur"].sum()), "gpu_kernels": len(analysis.get_gpu_kernel_breakdown(visualize=False)[0])}


def by_tensorboard(folder):
    from torch_tb_profiler import consts, io
    from torch_tb_profiler.profiler.loader import RunLoader
    known = [bool(consts.WORKER_PATTERN.match(name)) for name in os.listdir(folder)]
    profiles = RunLoader("train", folder, io.Cache()).load().profiles
    return {"named_right": all(known), "profiles": [{
        "views": [view.display_name for view in profile.views],
        "calls": {row["name"]: row["calls"] for row in profile.operation_table_by_name["data"]},
    } for profile in profiles.values()]}


if __name__ == "__main__":  # the loader starts processes that import this
    out = sys.stdout
    sys.stdout = sys.stderr
    print(json.dumps({"hta": by_hta(sys.argv[1]), "tensorboard": by_tensorboard(sys.argv[1])}), file=out)
