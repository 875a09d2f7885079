# SPDX-License-Identifier: MIT
"""What HolisticTraceAnalysis makes of a folder of traces, as JSON; runs in the environment that it is installed in.

    hta_figures.py FOLDER
"""
import json
import os
import sys

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"  # it would cut all times to microseconds
from hta.trace_analysis import TraceAnalysis  # noqa: E402


def main():
    analysis = TraceAnalysis(trace_dir=sys.argv[1])
    ranks = sorted(analysis.t.traces)
    temporal = analysis.get_temporal_breakdown(visualize=False)
    idle = analysis.get_idle_time_breakdown(ranks=ranks, visualize=False)[0]
    overlap = analysis.get_comm_comp_overlap(visualize=False)
    launches = analysis.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False)
    json.dump({"ranks": ranks, "temporal": temporal.to_dict("records"), "idle": idle.to_dict("records"),
               "overlap": overlap.to_dict("records"),
               "launches": {rank: frame.to_dict("records") for rank, frame in launches.items()}},
              sys.stdout, default=float)


if __name__ == "__main__":
    main()
