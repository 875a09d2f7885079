# SPDX-License-Identifier: MIT
"""What must hold where a GPU is available, sentence by sentence, and the checks that show it."""

HOLDS = (
    ("counts and times equal torch.profiler's", ["torch_profiler.kernels_as_it_counts"]),
    ("counts and times equal ncu's", ["others.ncu"]),
    ("counts and bytes equal those executed", ["amounts.plain", "amounts.calls_once"]),
    ("launch overhead added at most 1 us", ["costs.launches"]),
    ("a torch training at most 3 % slower", ["costs.torch_training"]),
    ("torch.profiler works unchanged under us", ["torch_profiler.unchanged_under_us"]),
    ("static cudart is covered through injection", ["amounts.static_cudart"]),
    ("graphs work", ["amounts.graph_nodes", "amounts.graph_level", "costs.graphs"]),
    ("many streams work", ["amounts.streams_and_threads"]),
    ("fork before and after initialisation works", ["amounts.fork_before", "amounts.fork_after", "torch_profiler.data_loader_workers"]),
    ("sys.exit, os._exit and SIGTERM work", ["ends.python_ends", "amounts.ways_to_end"]),
    ("several ranks on a GPU work", ["torch_profiler.torchrun"]),
    ("a server of several processes works", ["torch_profiler.vllm"]),
    ("other tools that hold CUPTI are named", ["others.ncu", "others.compute_sanitizer"]),
    ("kernels lie behind their launches on one clock", ["clocks.skew", "clocks.bad_times"]),
    ("what CUPTI and NVML cost by themselves is known", ["costs.cupti_alone", "costs.calls", "costs.memory", "costs.start", "others.nvml_costs"]),
    ("golden raw buffers are kept", ["raw.raw_buffers"]),
)


def judge(checks):
    """sentence -> "holds", "broken: ...", or "not shown: ..." by the results of the checks behind it."""
    told = {}
    for sentence, names in HOLDS:
        results = {name: checks[name] for name in names if name in checks}
        failed = [f"{name}: {r['reason']}" for name, r in results.items() if r["status"] == "failed"]
        absent = [f"{name}: {r['reason']}" for name, r in results.items() if r["status"] == "skipped"]
        absent += [f"{name} was not run" for name in names if name not in results]
        told[sentence] = "broken: " + "; ".join(failed) if failed else "not shown: " + "; ".join(absent) if absent else "holds"
    return told
