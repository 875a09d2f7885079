# SPDX-License-Identifier: MIT
"""The suite as data: which program holds which bottleneck, what it needs around it, what is measured."""
import surroundings as around


class Case:
    """`rule` must be the top finding of the bad variant (None: there must be no finding) and absent from the fixed one."""

    def __init__(self, program, rule, around_bad=around.nothing, around_fixed=None, *, in_seconds=True, options=(), cc=((), ()),
                 needs_torch=False, needs_idle_cpus=False):
        self.program, self.rule, self.in_seconds, self.options = program, rule, in_seconds, list(options)
        self.around = (around_bad, around_fixed or around_bad)
        self.cc, self.needs_torch, self.needs_idle_cpus = cc, needs_torch, needs_idle_cpus
        self.name = program.split(".")[0]
        self.needs_warm_code = rule is None or around_bad in around.OF_THE_DISK


def case(program, *more, **options):
    return Case(program, program.split(".")[0], *more, **options)


CASES = [
    case("small_reads.py"),
    case("reread_files.py"),
    case("metadata_storm.py"),
    case("synchronous_fsync.py"),
    case("slow_device.py", around.slow_device),
    case("unbuffered_stdio.c"),
    case("small_writes.py"),
    case("serial_fetches.py", around.slow_server),
    case("slow_dns.py", around.slow_resolver),
    case("lock_convoy.c", cc=(("-pthread",),) * 2),
    Case("lock_of_python.py", "lock_convoy"),
    case("thread_imbalance.c", cc=(("-pthread",),) * 2),
    case("too_few_workers.py", needs_torch=True),
    case("loading_in_main.py", needs_torch=True),
    case("dataloader_cpu_bound.py", needs_torch=True),
    case("dataloader_disk_bound.py", around.slow_device, needs_torch=True),
    case("too_many_workers.py", needs_torch=True),
    case("worker_imbalance.py"),
    case("oversubscribed_threads.c", cc=(("-pthread",),) * 2),
    case("cpu_throttled.py", around.tenth_of_a_cpu, around.nothing),
    case("noisy_neighbour.py", around.busy_machine, around.nothing),
    case("page_fault_storm.c"),
    case("large_blocks_remapped.c", around.nothing, around.malloc_that_keeps),
    case("swapping.c", around.little_memory_and_swap),
    case("io_pressure.py", around.slow_writes),
    case("heap_churn.c"),
    case("fork_of_large_process.py"),
    case("idle_child_wait.py"),
    case("sleep_polling.py"),
    case("long_sleeps.py"),
    case("heap_growth.py", in_seconds=False),
    case("memory_near_limit.py", around.two_hundred_mebibytes, in_seconds=False, options=["--interval", "100"]),
    case("cpu_saturated.c", in_seconds=False, cc=(("-pthread",),) * 2, needs_idle_cpus=True),
    case("gpu_under_used.py", around.idle_gpu, around.busy_gpu, in_seconds=False, options=["--interval", "100"]),
    case("nothing_captured.c", in_seconds=False, cc=(("-static",), ())),
    Case("clean_compute.py", None),
    Case("clean_training.py", None, needs_torch=True),
]
