# SPDX-License-Identifier: MIT
"""The suite as data: which program holds which bottleneck, what it needs around it, what is measured."""
import surroundings as around


class Case:
    """`rule` must be the top finding of the bad variant (None: there must be no finding) and absent from the fixed one. It points to
    one of the functions `place`; "python": to Python code. `sees`: the observation that must be the first one, with or without `rule`: what
    is no problem, but takes the time. `remedy`: what it must say to do. `evidence`: a key of it, and what
    that must hold."""

    def __init__(self, program, rule, around_bad=around.nothing, around_fixed=None, *, in_seconds=True, options=(), cc=((), ()),
                 needs_torch=False, needs_pandas=False, needs_idle_cpus=False, place=(), sees=None, words=(), remedy="", evidence=("", "")):
        self.program, self.rule, self.in_seconds, self.options = program, rule, in_seconds, list(options)
        self.around = (around_bad, around_fixed or around_bad)
        self.cc, self.needs_torch, self.needs_pandas, self.needs_idle_cpus = cc, needs_torch, needs_pandas, needs_idle_cpus
        self.place, self.sees = place, sees
        self.words, self.remedy, self.evidence = list(words), remedy, evidence
        self.name = "_".join([program.split(".")[0], *words])
        self.needs_warm_code = rule is None or around_bad in around.OF_THE_DISK


def look_alike(rule, *more, program="like.py", **options):
    """It does what the rule counts, but has no problem of that kind: the rule's remedy would do nothing."""
    return Case(program, None, *more, words=[rule], **options)


def case(program, *more, **options):
    return Case(program, program.split(".")[0], *more, **options)


CASES = [
    case("small_reads.py", place=["python"]),
    case("reread_files.py"),
    case("parsed_again.py", place=["python"]),
    Case("labels_of_each_sample.py", "parsed_again", needs_torch=True, place=["python"]),
    Case("labels_in_workers.py", "dataloader_cpu_bound", needs_torch=True, place=["python"], remedy="__init__"),
    Case("shards_in_workers.py", "too_few_workers", needs_torch=True, place=["python"], remedy="__init__"),
    Case("full_scans.py", "reread_files", remedy="index"),
    case("metadata_storm.py"),
    case("slow_imports.c"),
    case("collector_in_the_way.py"),
    case("rewritten_files.py"),
    case("file_writing.py"),
    case("synchronous_fsync.py", place=["python"]),
    case("slow_device.py", around.slow_device),
    case("unbuffered_stdio.c", place=["main"]),
    case("small_writes.py"),
    case("serial_fetches.py", around.slow_server),
    Case("awaited_in_turn.py", "serial_fetches", around.slow_server, place=["python"], remedy="gather"),
    case("slow_dns.py", around.slow_resolver),
    case("lock_convoy.c", cc=(("-pthread",),) * 2, place=["work"]),
    Case("lock_of_python.py", "lock_convoy", place=["python"], evidence=("holder_in", "under_the_lock")),
    Case("fetches_under_a_lock.py", "lock_convoy", around.slow_server, place=["python"], evidence=("holder_in", "download")),
    case("thread_imbalance.c", cc=(("-pthread",),) * 2, place=["work"]),
    case("too_few_workers.py", needs_torch=True),
    case("loading_in_main.py", needs_torch=True),
    Case("tiny_files.py", "loading_in_main", needs_torch=True),
    Case("samples_of_torch.py", "parsed_again", needs_torch=True, place=["python"]),
    Case("replay_memory.py", "python_in_training", needs_torch=True, place=["python"], evidence=("function", "most_important")),
    case("python_in_training.py", needs_torch=True, place=["python"]),
    Case("metrics_in_python.py", "python_in_training", needs_torch=True, place=["python"]),
    Case("metrics_beside_workers.py", "python_in_training", needs_torch=True, place=["python"], evidence=("function", "count_hits")),
    Case("matching_in_python.py", "python_in_training", needs_torch=True, place=["python"], evidence=("function", "match")),
    case("growing_copies.py", place=["python"], remedy="in a list"),
    Case("growing_tensor.py", "growing_copies", needs_torch=True, place=["python"], remedy="in a list"),
    case("growing_work.py", needs_torch=True, place=["python"]),
    case("compressing.py", place=["python"], remedy="compresslevel"),
    case("decompressing.py", place=["python"], remedy="lz4"),
    Case("compressed_arrays.py", "compressing", needs_torch=True, place=["python"], remedy="compresslevel"),
    case("scanned_tables.py", needs_torch=True, needs_pandas=True, place=["python"], remedy="groupby"),
    case("tiny_operations.py", needs_torch=True),
    Case("tiny_operations_in_samples.py", "tiny_operations", needs_torch=True, place=["python"], remedy="bincount"),
    case("costly_checkpoints.py", needs_torch=True),
    case("costly_validation.py", needs_torch=True),
    case("slow_first_batches.py", needs_torch=True, remedy="persistent_workers"),
    Case("spawned_lists.py", "slow_first_batches", needs_torch=True, remedy="no lists of objects"),
    case("dataloader_cpu_bound.py", needs_torch=True),
    case("dataloader_disk_bound.py", around.slow_device, needs_torch=True),
    case("command_of_each_sample.py", needs_torch=True, place=["python"], remedy="library"),
    Case("commands_in_workers.py", "command_of_each_sample", needs_torch=True, place=["python"], remedy="library"),
    Case("slow_batches.py", "too_few_workers", needs_torch=True),
    Case("worker_sleeps.c", "too_few_workers", place=["collate"]),
    case("too_many_workers.py", needs_torch=True),
    case("worker_imbalance.py"),
    case("pickled_data.py", place=["python"]),
    case("pools_made_again.py", place=["python"], remedy="once"),
    Case("spawned_pools.py", "pools_made_again", place=["python"], remedy="once"),
    Case("slow_worker.py", "worker_imbalance", needs_torch=True),
    case("rank_imbalance.py", needs_torch=True),
    Case("spawned_ranks.py", "rank_imbalance", needs_torch=True),
    case("oversubscribed_threads.c", cc=(("-pthread",),) * 2, place=["spin_barrier", "work"]),
    Case("oversubscribed_pool.c", "oversubscribed_threads", cc=(("-fopenmp",),) * 2),
    case("cpu_throttled.py", around.tenth_of_a_cpu, around.nothing),
    case("noisy_neighbour.py", around.busy_machine, around.nothing),
    case("page_fault_storm.c", place=["map", "main"]),
    case("large_blocks_remapped.c", around.nothing, around.malloc_that_keeps, place=["main"]),
    Case("index_of_arrays.py", "large_blocks_remapped", around.nothing, around.malloc_that_keeps, needs_torch=True, place=["python"]),
    case("swapping.c", around.little_memory_and_swap, place=["touch_all", "main"]),
    case("io_pressure.py", around.slow_writes, place=["python"]),
    case("heap_churn.c", place=["main"]),
    case("fork_of_large_process.py", place=["python"]),
    case("many_short_commands.py", remedy="awk"),
    case("idle_child_wait.py", place=["python"]),
    Case("commands_in_a_fork.py", "idle_child_wait", place=["convert_all"]),
    case("sleep_polling.py", place=["python"]),
    Case("timed_polling.py", "sleep_polling", place=["python"], remedy="queue"),
    Case("async_polling.py", "sleep_polling", place=["python"], remedy="await"),
    Case("polling_in_a_child.c", "sleep_polling", place=["wait_for_file"]),
    case("long_sleeps.py", place=["python"]),
    case("heap_growth.py", in_seconds=False, place=["python"]),
    case("memory_near_limit.py", around.two_hundred_mebibytes, in_seconds=False, options=["--interval", "100"]),
    Case("cpu_saturated.c", None, sees="cpu_saturated", cc=(("-pthread",),) * 2, needs_idle_cpus=True),
    case("gpu_under_used.py", around.idle_gpu, around.busy_gpu, in_seconds=False, options=["--interval", "100"]),
    case("nothing_captured.c", in_seconds=False, cc=(("-static",), ())),
    Case("clean_compute.py", None, sees="one_thread_computes", place=["python"]),
    Case("clean_imports.py", None, sees="importing", needs_torch=True),
    Case("clean_hot_function.c", None, sees="one_thread_computes", place=["slow_transform"]),
    Case("clean_objects.py", None, sees="one_thread_computes", place=["python"]),
    Case("clean_watched_weights.py", None, sees="beside_the_steps", needs_torch=True, place=["python"]),
    Case("clean_training.py", None, sees="one_thread_computes", needs_torch=True),
    look_alike("small_reads"),
    look_alike("reread_files"),
    look_alike("parsed_again"),
    look_alike("packed_file"),
    look_alike("own_state"),
    look_alike("prepares_first", needs_torch=True),
    look_alike("metadata_storm"),
    look_alike("lists_its_data"),
    look_alike("pickled_data"),
    look_alike("pools_made_again"),
    look_alike("slow_imports"),
    look_alike("collector_in_the_way"),
    look_alike("rewritten_files"),
    look_alike("long_sleeps"),
    look_alike("heap_growth"),
    look_alike("synchronous_fsync"),
    look_alike("small_writes"),
    look_alike("growing_copies"),
    look_alike("growing_work", needs_torch=True),
    look_alike("sorted_by_length", needs_torch=True),
    look_alike("compressing"),
    look_alike("decompressing"),
    look_alike("scanned_tables", needs_torch=True, needs_pandas=True),
    look_alike("serial_fetches", around.slow_server),
    look_alike("gathers_them", around.slow_server),
    look_alike("too_few_workers", needs_torch=True),
    look_alike("tiny_operations", needs_torch=True),
    look_alike("fork_of_large_process"),
    look_alike("idle_child_wait"),
    look_alike("many_short_commands"),
    look_alike("command_of_each_sample", needs_torch=True),
    look_alike("sleep_polling"),
    look_alike("ticks_beside_work"),
    look_alike("may_be_stopped"),
    look_alike("slow_dns"),
    look_alike("lock_convoy", program="like.c", cc=(("-pthread",),) * 2),
    look_alike("thread_imbalance", program="like.c", cc=(("-pthread",),) * 2),
    look_alike("oversubscribed_threads", program="like.c", cc=(("-pthread",),) * 2),
    look_alike("page_fault_storm", program="like.c", cc=(("-pthread",),) * 2),
    Case("clean_two_loaders.py", None, needs_torch=True),
    Case("clean_preforking_server.py", None, around.clients),
    Case("clean_accept_loop.py", None, around.clients),
]
