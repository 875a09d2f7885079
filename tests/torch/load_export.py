# SPDX-License-Identifier: MIT
"""What two readers of torch.profiler's files find in a folder of them, as JSON: load_export.py FOLDER

Holistic Trace Analysis, of each file: slices and their time, calls of each operator, kernels. TensorBoard's plugin, by its own loader: views, and
calls of each operator."""
import collections
import json
import os
import sys


def names_in(folder):
    """What TensorBoard looks at; the callback leaves other files there as well."""
    from torch_tb_profiler import consts
    return sorted(name for name in os.listdir(folder) if consts.WORKER_PATTERN.match(name))


def by_hta(folder, name):
    from hta.trace_analysis import TraceAnalysis
    # It reads one file for a rank, and leaves out the last step unless it is told not to.
    analysis = TraceAnalysis(trace_files={0: os.path.join(folder, name)}, trace_dir=folder, include_last_profiler_step=True)
    events, words = analysis.t.get_trace(0), analysis.t.symbol_table.get_sym_table()
    calls = collections.Counter(words[row] for row, kind in zip(events["name"], events["cat"]) if words[kind] == "cpu_op")
    return {"slices": len(events), "dur_us": float(events["dur"].sum()), "calls": calls,
            "gpu_kernels": len(analysis.get_gpu_kernel_breakdown(visualize=False)[0])}


def by_tensorboard(folder):
    from torch_tb_profiler import io
    from torch_tb_profiler.profiler.loader import RunLoader
    profiles = RunLoader("train", folder, io.Cache()).load().profiles
    return [{"views": [view.display_name for view in profile.views],
             "calls": {row["name"]: row["calls"] for row in profile.operation_table_by_name["data"]}} for _, profile in sorted(profiles.items())]


def main(folder):
    names = names_in(folder)
    return {"names": names, "hta": [by_hta(folder, name) for name in names], "tensorboard": by_tensorboard(folder)}


if __name__ == "__main__":  # the loader starts processes that import this
    out = sys.stdout
    sys.stdout = sys.stderr
    print(json.dumps(main(os.path.abspath(sys.argv[1]))), file=out)
