# SPDX-License-Identifier: MIT
"""The examples of the document "Performance Profiler", with the smallest things that have the names which they use. Adapted: the name
that is imported, and one epoch instead of a hundred. Run by test_package.py, with and without PyTorch."""
import sys
import time

from proftrace import PerformanceProfiler


class Model:
    def fit(self, x, y):
        return sum(a * b for a, b in zip(x, y))

    def predict(self, data):
        return data


def busy(seconds=0.01):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def simple():
    model, X_train, y_train = Model(), range(1000), range(1000)
    profiler = PerformanceProfiler()
    with profiler.profile("training_loop"):
        model.fit(X_train, y_train)
    metrics = profiler.get_metrics()
    print(f"Peak RAM: {metrics.memory.peak_ram_mb:.1f} MB")
    print(f"Wall Time: {metrics.timing.wall_time_s:.3f}s")


def configuration():
    PerformanceProfiler(track_gpu=True, track_carbon=False, detailed_memory=True, memory_interval=0.1, track_cpu_temp=True, track_network=False)


def leak():
    kept = []

    def train_epoch():
        kept.append(bytearray(15_000_000))

    profiler = PerformanceProfiler(detailed_memory=True)
    memory_snapshots = []
    with profiler.profile("potential_memory_leak"):
        for epoch in range(10):
            train_epoch()
            current_memory = profiler.get_current_memory()
            memory_snapshots.append(current_memory)
    memory_growth = memory_snapshots[-1] - memory_snapshots[0]
    if memory_growth > 100:
        print(f"Potential memory leak: {memory_growth:.1f}MB growth")


def gpu():
    profiler = PerformanceProfiler(track_gpu=True)
    with profiler.profile("gpu_training"):
        gpu_memory = profiler.get_current_gpu_memory()
        if gpu_memory > 0.9:
            print("High GPU memory usage, consider reducing batch size")
    metrics = profiler.get_metrics()
    print(f"Peak GPU Memory: {metrics.memory.peak_gpu_mb:.1f} MB")
    print(f"GPU Utilization: {metrics.compute.gpu_utilization_percent:.1f}%")


def breakdown():
    profiler = PerformanceProfiler()
    with profiler.profile("complete_pipeline"):
        with profiler.profile("data_loading"):
            busy(0.03)
        with profiler.profile("preprocessing"):
            busy(0.02)
        with profiler.profile("training"):
            busy(0.05)
        with profiler.profile("evaluation"):
            busy(0.01)
    timing_report = profiler.get_timing_breakdown()
    for operation, timing in timing_report.items():
        print(f"{operation}: {timing:.3f}s ({timing/sum(timing_report.values())*100:.1f}%)")


def lines():
    def slow_function():
        busy(0.3)

    profiler = PerformanceProfiler(enable_line_profiling=True)
    with profiler.profile("bottleneck_detection"):
        slow_function()
    line_profile = profiler.get_line_profile()
    bottlenecks = [line for line in line_profile if line.time_percent > 10]
    for bottleneck in bottlenecks:
        print(f"Bottleneck at line {bottleneck.line_number}: {bottleneck.time_percent:.1f}% of time")


def flops():
    import torch
    import torch.nn as nn
    profiler = PerformanceProfiler(estimate_flops=True)
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))
    with profiler.profile("model_complexity"):
        x = torch.randn(32, 784)
        model(x)
    metrics = profiler.get_metrics()
    print(f"Estimated FLOPs: {metrics.compute.estimated_flops:,}")
    print(f"FLOPs per parameter: {metrics.compute.flops_per_param:.2f}")


def throughput():
    profiler = PerformanceProfiler()
    batch_sizes = [16, 32, 64, 128]
    throughput_results = {}
    for batch_size in batch_sizes:
        with profiler.profile(f"batch_size_{batch_size}"):
            for _ in range(10):
                busy(0.001)
        metrics = profiler.get_metrics()
        samples_per_second = (10 * batch_size) / metrics.timing.wall_time_s
        throughput_results[batch_size] = samples_per_second
    optimal_batch = max(throughput_results, key=throughput_results.get)
    print(f"Optimal batch size: {optimal_batch} ({throughput_results[optimal_batch]:.1f} samples/s)")


def comparison():
    profiler = PerformanceProfiler()
    results = {}
    for name, seconds in {"simple_mlp": 0.01, "deep_mlp": 0.02}.items():
        with profiler.profile(f"{name}_training"):
            busy(seconds)
        metrics = profiler.get_metrics()
        results[name] = {"memory": metrics.memory.peak_ram_mb, "time": metrics.timing.wall_time_s, "flops": metrics.compute.estimated_flops}
    print(results["simple_mlp"]["time"] < results["deep_mlp"]["time"])


def resources():
    profiler = PerformanceProfiler(track_system=True, system_interval=0.02)
    with profiler.profile("resource_monitoring"):
        for epoch in range(1):
            busy(0.2)
            system_stats = profiler.get_current_system_stats()
            if system_stats.cpu_percent > 90:
                print("High CPU usage")
            if system_stats.memory_percent > 85:
                print("High memory usage")
            if system_stats.disk_io_percent > 80:
                print("High disk I/O")
    system_report = profiler.get_system_report()
    print(f"Average CPU usage: {system_report.avg_cpu_percent:.1f}%")
    print(f"Peak memory usage: {system_report.peak_memory_percent:.1f}%")


def production():
    from datetime import datetime

    class ProductionProfiler:
        def __init__(self):
            self.profiler = PerformanceProfiler()
            self.metrics_log = []

        def profile_request(self, request_id):
            return self.profiler.profile(f"request_{request_id}")

        def log_metrics(self, request_id, user_facing_latency):
            metrics = self.profiler.get_metrics()
            self.metrics_log.append({
                "timestamp": datetime.now().isoformat(),
                "request_id": request_id,
                "internal_latency": metrics.timing.wall_time_s,
                "user_facing_latency": user_facing_latency,
                "memory_mb": metrics.memory.peak_ram_mb,
                "cpu_percent": metrics.system.cpu_percent if hasattr(metrics, "system") else None,
            })

    prod_profiler = ProductionProfiler()
    start_time = time.time()
    with prod_profiler.profile_request("a"):
        Model().predict([1])
    prod_profiler.log_metrics("a", time.time() - start_time)
    print(len(prod_profiler.metrics_log))


def both():
    profiler = PerformanceProfiler()
    with profiler.profile("training_performance", samples=640):
        busy()
    with profiler.profile("inference_performance", samples=640):
        busy()
    training_metrics = profiler.get_metrics("training_performance")
    inference_metrics = profiler.get_metrics("inference_performance")
    print(f"Training throughput: {training_metrics.throughput} samples/s")
    print(f"Inference throughput: {inference_metrics.throughput} samples/s")


def diagnose():
    def diagnose_performance_issues(profiler_results):
        issues = []
        if profiler_results.memory.peak_ram_mb > 16000:
            issues.append("High memory usage - consider reducing batch size or model size")
        if profiler_results.system.cpu_percent > 95:
            issues.append("CPU bottleneck - consider data loading optimization or distributed training")
        if profiler_results.compute.gpu_utilization_percent < 70:
            issues.append("GPU underutilized - increase batch size or improve data loading")
        if profiler_results.system.disk_io_wait_percent > 20:
            issues.append("I/O bottleneck - optimize data loading or use faster storage")
        return issues

    profiler = PerformanceProfiler()
    with profiler.profile("anything"):
        busy()
    metrics = profiler.get_metrics()
    for issue in diagnose_performance_issues(metrics):
        print(issue)


EXAMPLES = [simple, configuration, leak, gpu, breakdown, lines, throughput, comparison, resources, production, both, diagnose]
for example in EXAMPLES + ([flops] if "torch" in sys.argv else []):
    print(f"-- {example.__name__}")
    example()
