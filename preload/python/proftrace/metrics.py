# SPDX-License-Identifier: MIT
"""What a Profiler says of a part of a program. Units are in the names, MB are MiB (1,048,576 bytes). NaN is unknown: it
compares false with any limit, and prints as nan; `reasons` of the Metrics says why, by the name of the value ("memory.peak_gpu_mb")."""
from __future__ import annotations

from dataclasses import dataclass, field
from math import nan as NAN
from typing import Dict


@dataclass
class MemoryMetrics:
    """RAM of this process, and of the GPU what PyTorch holds.

    `peak_ram_mb` is the kernel's own peak where the part raised it; otherwise the largest value that was seen, at both ends and in the
    samples of `detailed_memory`: a lower bound (`peak_ram_is_lower_bound`). The same holds for the GPU.

    >>> MemoryMetrics(peak_ram_mb=120.5, peak_ram_is_lower_bound=True).growth_mb
    nan
    """
    peak_ram_mb: float = NAN
    peak_ram_is_lower_bound: bool = False
    growth_mb: float = NAN
    peak_gpu_mb: float = NAN
    peak_gpu_is_lower_bound: bool = False


@dataclass
class TimingMetrics:
    """`wall_time_s` by the monotonic clock; `cpu_time_s` of all threads of this process, user and system; `self_time_s` is the wall time
    without parts inside.

    >>> TimingMetrics(wall_time_s=2.0, cpu_time_s=3.0, self_time_s=0.5).cpu_time_s
    3.0
    """
    wall_time_s: float = 0.0
    cpu_time_s: float = 0.0
    self_time_s: float = 0.0


@dataclass
class ComputeMetrics:
    """`estimated_flops` as torch.utils.flop_counter counts them (a multiplication and an addition are two), forward and backward;
    `flops_per_param` of the modules that were called; `gpu_utilization_percent` is the mean of `gpu_utilization_readings`, of which the
    driver makes each over some hundred milliseconds.

    >>> ComputeMetrics(estimated_flops=2e9).gpu_utilization_readings
    0
    """
    estimated_flops: float = NAN
    flops_per_param: float = NAN
    gpu_utilization_percent: float = NAN
    gpu_utilization_readings: int = 0


@dataclass
class SystemMetrics:
    """Of the whole machine while the part ran, from /proc: 100 % are all CPUs.

    >>> SystemMetrics(cpu_percent=12.5).cpu_percent > 95
    False
    """
    cpu_percent: float = NAN
    memory_percent: float = NAN
    disk_io_wait_percent: float = NAN
    cpu_temperature_c: float = NAN
    network_received_mb: float = NAN
    network_sent_mb: float = NAN


@dataclass
class Metrics:
    """A part of a program that `Profiler.profile` measured. `throughput`: samples per second, where it was told how many.

    >>> Metrics("train").memory.peak_ram_mb > 16000
    False
    """
    name: str
    memory: MemoryMetrics = field(default_factory=MemoryMetrics)
    timing: TimingMetrics = field(default_factory=TimingMetrics)
    compute: ComputeMetrics = field(default_factory=ComputeMetrics)
    system: SystemMetrics = field(default_factory=SystemMetrics)
    throughput: float = NAN
    reasons: Dict[str, str] = field(default_factory=dict)
    is_traced: bool = False


@dataclass
class LineTime:
    """A line of the program and its share of the time in parts with `enable_line_profiling`, from samples of their thread.

    >>> line = LineTime("train.py", 12, "load", 75.0, 150)
    >>> f"{line.time_percent:.0f} % in line {line.line_number}"
    '75 % in line 12'
    """
    file: str
    line_number: int
    function: str
    time_percent: float
    samples: int


@dataclass
class SystemStats:
    """The machine, since the last call (the first time: since the Profiler was made). `disk_io_percent` is of the busiest disk.

    >>> SystemStats(memory_percent=40.0).memory_percent > 85
    False
    """
    cpu_percent: float = NAN
    memory_percent: float = NAN
    disk_io_percent: float = NAN


@dataclass
class SystemReport:
    """The machine over all parts that were measured.

    >>> SystemReport(avg_cpu_percent=50.0, samples=3).samples
    3
    """
    avg_cpu_percent: float = NAN
    peak_memory_percent: float = NAN
    avg_disk_io_percent: float = NAN
    samples: int = 0
