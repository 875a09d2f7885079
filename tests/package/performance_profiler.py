# SPDX-License-Identifier: MIT
"""Plays the examples of the document "Performance Profiler", with the smallest things that have the names which they use, and holds what they
found against what these things did. Adapted: the name that is imported, and ADAPTED. Prints what each said; run by test_documents.py.

  performance_profiler.py [torch]    torch: also those that compute with PyTorch"""
import collections
import contextlib
import io
import json
import math
import sys
import time
import types

import proftrace
from blocks import blocks
from proftrace import PerformanceProfiler

WITH_TORCH = "torch" in sys.argv
NEED_TORCH = "GPU Memory Tracking", "Model Complexity Analysis"
IMPORT = "from cookbook.measure import PerformanceProfiler", "from proftrace import PerformanceProfiler"
# What is no Python that runs as it stands: a generator as a context, and methods that are not shown.
ADAPTED = {
    "Automated Performance Regression Detection": [("    def check_regression", "    @contextmanager\n    def check_regression"),
                                                   ("class PerformanceRegressionDetector:", "class PerformanceRegressionDetector(NotShown):")],
    "Production Monitoring Dashboard": [("class ProductionProfiler:", "class ProductionProfiler(NotShown):")],
}
took = collections.defaultdict(list)  # seconds of each call of a stand-in, by its name
spans = collections.defaultdict(list)  # (begin, end) of each


def spend(name, seconds):
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        pass
    end = time.monotonic()
    took[name].append(end - begin)
    spans[name].append((begin, end))


def does(name, seconds, result=None):
    def stand_in(*_, **__):
        spend(name, seconds)
        return result
    return stand_in


class Model:
    """Of a user: it is trained, asked, and may be large."""

    def __init__(self, seconds=0.001):
        self.seconds = seconds
        self.fit = does("fit", 0.02)

    def __call__(self, batch):
        spend("model", self.seconds)
        return batch

    def predict(self, data):
        spend("predict", 0.01)
        return [data]

    def cuda(self):
        return self

    train = eval = parameters = lambda self: None


class NotShown:
    """Methods that the document calls and does not show."""
    alerts, violations = [], []

    def load_baseline(self, path):
        return {"model_training": {"wall_time_s": 0.01}}

    def alert_regression(self, *what):
        self.alerts.append(what)

    def alert_sla_violation(self, entry):
        self.violations.append(entry)


class App:
    routes = {}

    def route(self, path):
        return lambda function: self.routes.setdefault(path, function)


def torch_of_users():
    if WITH_TORCH:
        import torch
        return torch
    return types.SimpleNamespace(randn=lambda *shape: shape, no_grad=contextlib.nullcontext, optim=types.SimpleNamespace(Adam=lambda *_, **__: None))


def names(heading):
    """What an example finds there."""
    kept, torch = [], torch_of_users()
    batch = types.SimpleNamespace(cuda=lambda: 1)
    model = torch.nn.Linear(784, 10) if WITH_TORCH and heading in ("Throughput Analysis", "Hyperparameter Impact Analysis") else Model()
    epoch = does("epoch", 0.002) if heading != "Memory Leak Detection" else lambda: kept.append(bytearray(15_000_000))
    return {
        "PerformanceProfiler": PerformanceProfiler, "model": model, "X_train": range(10), "y_train": range(10), "train_epoch": epoch, "torch": torch,
        "MyModel": Model, "dataloader": [batch] * 3, "criterion": lambda output, target: 0.0, "target": batch,
        "load_data": does("data_loading", 0.03), "preprocess": does("preprocessing", 0.02), "evaluate": does("evaluation", 0.01),
        "train_model": does("training", 0.05), "slow_function": does("slow_function", 0.3), "SimpleMLPModel": Model, "DeepMLPModel": Model, "CNNModel": Model,
        "train_data": [], "train_with_optimizer": does("optimizer", 0.01), "get_final_accuracy": lambda: 0.5, "app": App(), "generate_request_id": lambda: "a",
        "request": types.SimpleNamespace(json={}), "time": time, "load_production_sample": lambda: [1], "sample_input": [1], "train_loader": [], "test_loader": [],
        "train_one_epoch": does("one_epoch", 0.02), "evaluate_model": does("evaluate_model", 0.01), "NotShown": NotShown, "contextmanager": contextlib.contextmanager,
        "profiler": measured() if heading == "Common Performance Issues" else None,
    }


def measured():
    profiler = PerformanceProfiler()
    with profiler.profile("anything"):
        spend("anything", 0.03)
    return profiler


# ---- what must be true of what an example found ----

def about(seconds, calls):
    """A busy machine may take the CPU away between a stand-in and what measures it, longer than any of them lasts."""
    assert sum(calls) <= seconds < sum(calls) + 0.2, (seconds, calls)


def simple(n, out):
    about(n["metrics"].timing.wall_time_s, took["fit"])
    assert out == f"Peak RAM: {n['metrics'].memory.peak_ram_mb:.1f} MB\nWall Time: {n['metrics'].timing.wall_time_s:.3f}s\n", out


def leak(n, out):
    assert 125 < n["memory_growth"] < 145, n["memory_growth"]  # nine of 15,000,000 bytes
    assert out == f"⚠️ Potential memory leak: {n['memory_growth']:.1f}MB growth\n", out


def no_gpu(n, out):
    assert out.endswith("Peak GPU Memory: nan MB\nGPU Utilization: nan%\n"), out
    assert n["metrics"].reasons["memory.peak_gpu_mb"] == "the program does not use a GPU", n["metrics"].reasons


def breakdown(n, out):
    report = n["timing_report"]
    for name in "data_loading", "preprocessing", "training", "evaluation":
        about(report[name], took[name])
    assert report["complete_pipeline"] < sum(sum(calls) for calls in took.values()), report  # without those inside it
    assert abs(sum(float(line.split("(")[1].rstrip("%)")) for line in out.splitlines()) - 100) < 0.3, out


def lines(n, out):
    assert {line.file for line in n["bottlenecks"]} == {__file__} and {line.function for line in n["bottlenecks"]} == {"spend"}, n["bottlenecks"]
    assert sum(line.time_percent for line in n["line_profile"]) > 99, n["line_profile"]


def flops(n, out):
    total, parameters = 2 * 32 * (784 * 512 + 512 * 10), 785 * 512 + 513 * 10
    assert out == f"Estimated FLOPs: {total:,}\nFLOPs per parameter: {total / parameters:.2f}\n", out


def throughput(n, out):
    assert len(n["throughput_results"]) == 4 and f"Optimal batch size: {n['optimal_batch']}" in out, out
    rates = n["throughput_results"]
    assert rates[n["optimal_batch"]] == max(rates.values()), (rates, out)
    if WITH_TORCH:
        return
    assert len(spans["model"]) == 40, spans
    known = {}  # by the clock of the stand-in, from the first of ten calls to the end of the last: the CPU may be away between two of them, too
    for i, size in enumerate(rates):
        about(10 * size / rates[size], took["model"][10 * i:10 * i + 10])
        known[size] = 10 * size / (spans["model"][10 * i + 9][1] - spans["model"][10 * i][0])
    others = max(rate for size, rate in known.items() if size != 128)  # half of it, on a machine that does nothing else
    assert known[128] <= 1.3 * others or n["optimal_batch"] == 128, (rates, known)


def architectures(n, out):
    assert list(n["results"]) == ["simple_mlp", "deep_mlp", "cnn"] and all(one["time"] >= 0.05 and math.isnan(one["flops"]) for one in n["results"].values())
    assert "comparison_df" not in n or list(n["comparison_df"]["memory"]) == [one["memory"] for one in n["results"].values()]


def rates(n, out):
    assert len(out.splitlines()) == 3 and "LR 0.01: Efficiency = " in out, out


def resources(n, out):
    report = n["system_report"]
    assert report.samples >= 1 and 0 < report.peak_memory_percent < 100 and (0 <= report.avg_cpu_percent <= 100), report


def regression(n, out):
    (name, before, now), = NotShown.alerts  # 50 ms against 10
    assert (name, before) == ("model_training", 0.01) and now >= 0.05, NotShown.alerts


def production(n, out):
    assert App.routes["/predict"]() == {"prediction": [{}]}
    App.routes["/predict"]()
    n["prod_profiler"].log_metrics("slow", 2.5)
    report, ours = n["prod_profiler"].generate_hourly_report(), proftrace.RequestProfiler(sla_s=2.0)
    for entry in n["prod_profiler"].metrics_log:
        ours.log(entry["user_facing_latency"])
    said = ours.generate_hourly_report()
    assert {name: said[name] for name in report} == report and report["requests_processed"] == 3 and report["sla_violations"] == 1, (said, report)
    assert [entry["request_id"] for entry in NotShown.violations] == ["slow"]


def warm(n, out):
    about(n["profiler"].get_metrics("warmed_up_inference").timing.wall_time_s, took["model"][-100:])


def both(n, out):
    about(n["training_metrics"].timing.wall_time_s, took["one_epoch"])
    about(n["inference_metrics"].timing.wall_time_s, took["evaluate_model"])
    assert out == "Training throughput: nan samples/s\nInference throughput: nan samples/s\n"  # it was not told how many


def issues(n, out):
    assert set(n["issues"]) <= {"CPU bottleneck - consider data loading optimization or distributed training"}, n["issues"]  # as busy as the machine is


def done(n, out):
    return None


CHECKS = {
    "Simple Profiling": simple, "Advanced Configuration": done, "Memory Leak Detection": leak, "GPU Memory Tracking": no_gpu, "Detailed Timing Breakdown": breakdown,
    "Performance Bottleneck Detection": lines, "Model Complexity Analysis": flops, "Throughput Analysis": throughput, "Model Architecture Comparison": architectures,
    "Hyperparameter Impact Analysis": rates, "Resource Utilization Tracking": resources, "Automated Performance Regression Detection": regression,
    "Production Monitoring Dashboard": production, "1. Profile Representative Workloads": done, "2. Use Warm-up Runs": warm,
    "3. Profile Both Training and Inference": both, "Common Performance Issues": issues,
}


def play(heading, text):
    for old, new in ADAPTED.get(heading, []):
        assert old in text, old
        text = text.replace(old, new)
    namespace, said = names(heading), io.StringIO()
    took.clear()
    spans.clear()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile(text.replace(*IMPORT), heading, "exec"), namespace)
    except ModuleNotFoundError as error:
        if error.name != "pandas":  # of the whole example the last three lines are left out then
            raise
    CHECKS[heading](namespace, said.getvalue())
    return said.getvalue()


found = blocks("performance_profiler", "python")
assert set(found) == set(CHECKS), set(found) ^ set(CHECKS)
print(json.dumps({heading: play(heading, text) for heading, text in found.items() if WITH_TORCH or heading not in NEED_TORCH}))
