# SPDX-License-Identifier: MIT
"""What HolisticTraceAnalysis makes of a folder of traces, as JSON; runs in the environment that it is installed in.

    hta_figures.py FOLDER [FIRST-LAST]      with these steps' critical path on the first rank
"""
import json
import os
import sys

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"  # it would cut all times to microseconds
from hta.trace_analysis import TraceAnalysis  # noqa: E402


def critical_path(analysis, rank, steps):
    """Microseconds by what bounds them, and how many edges lead from the GPU back to a call that waited for it."""
    graph, is_found = analysis.critical_path_analysis(rank=rank, annotation="ProfilerStep", instance_id=steps)
    if not is_found:
        return None
    parts = graph.get_critical_path_breakdown().groupby("bound_by")["duration"].sum()
    kinds = [data["object"].type.value for _, _, data in graph.edges(data=True)]
    return {"parts": parts.to_dict(), "waits": kinds.count("critical_path_sync_dependency")}


def kernels_of_annotations(analysis, rank):
    """How much work HTA assigns to each range, by where ranges lie on the streams."""
    frame = analysis.get_gpu_kernels_with_user_annotations(rank)
    return {} if frame is None else frame["s_user_annotation"].value_counts().to_dict()


def main():
    analysis = TraceAnalysis(trace_dir=sys.argv[1])
    ranks = sorted(analysis.t.traces)
    temporal = analysis.get_temporal_breakdown(visualize=False)
    idle = analysis.get_idle_time_breakdown(ranks=ranks, visualize=False)[0]
    overlap = analysis.get_comm_comp_overlap(visualize=False)
    launches = analysis.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False)
    path = critical_path(analysis, ranks[0], tuple(map(int, sys.argv[2].split("-")))) if len(sys.argv) > 2 else None
    json.dump({"ranks": ranks, "critical_path": path, "annotated": kernels_of_annotations(analysis, ranks[0]), "temporal": temporal.to_dict("records"), "idle": idle.to_dict("records"),
               "overlap": overlap.to_dict("records"),
               "launches": {rank: frame.to_dict("records") for rank, frame in launches.items()}},
              sys.stdout, default=float)


if __name__ == "__main__":
    main()
