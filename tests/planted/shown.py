# SPDX-License-Identifier: MIT
"""For each rule, where it is shown that its advice helps, and where that it is silent for what only looks like its problem.

The planted programs (suite.py) and the random ones (tests/random) are played in two variants, as they are and as somebody left them who
took the advice: the report's bound is held against the difference. What they do not say stands here, with the reason. docs/rules.md has
the table of it; a rule that is in none of these is an error of scripts/gen_docs.py, and so is a name of a test that is gone."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TESTS, "random")]

import causes  # noqa: E402
import causes_torch  # noqa: E402, F401
import causes_wide  # noqa: E402, F401
import lookalikes  # noqa: E402, F401
from suite import CASES  # noqa: E402

NO_GPU = "needs a GPU; written traces with known seconds, and a double of CUDA"
NO_SECONDS = "says what a report cannot know, not what could be gained"
LIMIT = "a limit that the user has set: nothing is promised"
OF_MEMORY = "about memory: no seconds are promised"
PHASES = "a written training with known seconds"

# rule: why its gain is not measured by a program
WITHOUT_GAIN = {
    "stage_stuck": "a stage that hangs has no end to compare with",
    "workers_start": "the figures of such workers, as a table",
    "steps_wait_for_data": "stands below the rules that say why the data is late, of which each has a program",
    "batches_of_one": PHASES + "; a program of such steps is `tiny_operations`",
    "skipped_steps": PHASES, "stolen_cpus": "of the host: no program can change it",
    "unfused_optimizer": "needs a current PyTorch: program `optimizer` of tests/torch, with its gain",
    "recompiles": PHASES + ": a compiler would have to be there", "compiling": PHASES + ": a compiler would have to be there",
    "gpu_large_gaps": NO_GPU, "gpu_launch_bound": NO_GPU, "gpu_pageable_copies": NO_GPU, "gpu_synchronous_copies": NO_GPU, "gpu_module_load": NO_GPU,
    "gpu_values_one_by_one": NO_GPU,
    "gpu_allocation_churn": NO_GPU, "gpu_collective_imbalance": NO_GPU, "gpu_communication_bound": NO_GPU, "gpu_float32": NO_GPU,
    "gpu_memory_full": NO_GPU, "gpu_data_incomplete": NO_GPU,
    "cpu_saturated": "an observation: all CPUs work",
    "high_memory": OF_MEMORY,
    "trace_cut_short": NO_SECONDS, "events_lost": NO_SECONDS, "nothing_captured": NO_SECONDS,
    "cpu_above_threshold": LIMIT, "memory_above_threshold": LIMIT, "memory_growth_above_threshold": LIMIT, "disk_above_threshold": LIMIT,
}
# rule: programs or stories that look alike, beside planted `like_RULE`
ALIKE = {
    "reference_blas": "planted `reference_blas`: with OpenBLAS it has none", "importing": "planted `clean_imports`",
    "beside_the_steps": "planted `clean_watched_weights`",
    "too_few_workers": "planted `clean_two_loaders`, `clean_training`", "dataloader_cpu_bound": "planted `clean_training`",
    "dataloader_disk_bound": "planted `clean_training`", "too_many_workers": "planted `clean_two_loaders`",
    "worker_imbalance": "planted `clean_two_loaders`, random `balanced_pool`", "loading_in_main": "random `healthy_training`",
    "python_in_training": "planted `clean_training`, random `healthy_training`", "steps_wait_for_data": "training.rules: `nothing_is_wrong`",
    "slow_first_batches": "training.rules: `only_the_first_epoch_begins_late`", "costly_validation": "training.rules: `a_short_validation_after_each_epoch`",
    "costly_checkpoints": "training.rules: `short_checkpoints`", "compiling": "training.rules: `compiled_code_is_in_the_cache`", "batches_of_one": "training.rules: `one_sample_is_work_enough`",
    "collector_in_the_way": "training.rules: `a_few_collections`", "skipped_steps": "training.rules: `the_scaler_finds_its_scale_at_the_start`",
    "small_reads": "random `reads_well`", "reread_files": "golden `files_read_once`, random `caches_then_stays`", "metadata_storm": "random `small_files_once`",
    "small_writes": "random `writes_lines`", "slow_imports": "random `imports`", "synchronous_fsync": "golden `one_fsync`",
    "slow_dns": "golden `few_lookups`", "serial_fetches": "planted `clean_own_server`, golden `parallel_fetches`",
    "gil_contention": "random `queue`", "lock_convoy": "golden `lock_short_waits`, random `short_locks`", "thread_imbalance": "random `balanced_threads`",
    "idle_child_wait": "planted `clean_preforking_server`", "sleep_polling": "golden `polled_server`", "long_sleeps": "random `few_sleeps`",
    "fork_of_large_process": "golden `small_forks`, random `server_that_forks`", "noisy_neighbour": "golden `machine_full_of_own_threads`", "stolen_cpus": "golden `noisy_neighbour`",
    "large_blocks_remapped": "golden `large_blocks_kept`", "heap_growth": "golden `heap_filled_once`, `heap_steady`, random `grows_then_stays`",
    "heap_churn": "golden `heap_long_lived`", "gpu_pageable_copies": "golden `gpu_pinned_copies`", "gpu_large_gaps": "golden `gpu_small_gaps`",
    "gpu_allocation_churn": "golden `gpu_allocations_kept`, `gpu_allocations_freed_at_end`", "gpu_collective_imbalance": "golden `gpu_collectives_even`, `gpu_collectives_hidden`",
    "gpu_communication_bound": "golden `gpu_collectives_even`, `gpu_collectives_hidden`",
    "gpu_memory_full": "golden `gpu_memory_enough`, `gpu_memory_taken`", "gpu_synchronous_copies": "golden `gpu_synchronous_beside_work`",
}


def names(kind, found):
    return f"{kind} " + ", ".join(f"`{name}`" for name in dict.fromkeys(found)) if found else ""


def stories_with_a_silent_form():
    """{rule: golden stories that fire for it and say what would silence it}"""
    found = {}
    folder = os.path.join(TESTS, "golden")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".pt.txt"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            fires = re.search(r"^# fires:(.*)$", text, re.M)
            for rule in fires[1].split() if fires and "\n# silent: " in text else []:
                found.setdefault(rule, []).append(name.split(".")[0])
    return found


def gain_of(rule, stories):
    planted = [case.name for case in CASES if case.rule == rule]
    in_seconds = [case.name for case in CASES if case.rule == rule and case.in_seconds]
    chance = [cause.name for cause in causes.CAUSES if cause.rules[:1] == (rule,)]
    text = "; ".join(filter(None, [names("planted", in_seconds), names("random", chance)]))
    without = [name for name in planted if name not in in_seconds]
    found = [text, names("planted, without seconds:", without) if without else "", WITHOUT_GAIN.get(rule, "")]
    return "; ".join(filter(None, found)) or (names("a written trace alone: golden", stories.get(rule, [])))


def silence_of(rule, stories):
    planted = [case.name for case in CASES if case.rule is None and case.words == [rule]]
    found = [names("planted", planted), ALIKE.get(rule, ""), names("the silent form of golden", stories.get(rule, []))]
    return "; ".join(filter(None, found)) or "`unit.t_rule_table`: one figure is another"


def check_names():
    """Each test that is named here is there."""
    with open(os.path.join(TESTS, "training", "test_rules.py"), encoding="utf-8") as file:
        training = file.read()
    known = {"planted": {case.name for case in CASES}, "random": {cause.name for cause in causes.CAUSES},
             "golden": {name.split(".")[0] for name in os.listdir(os.path.join(TESTS, "golden"))},
             "training.rules:": set(re.findall(r"def test_(\w+)", training))}
    for rule, text in ALIKE.items():
        for part in re.split(r"[,;] (?=[a-z])", text):
            kind, listed = part.split(" ", 1)
            missing = set(re.findall(r"`(\w+)`", listed)) - known[kind]
            if missing:
                sys.exit(f"tests/planted/shown.py: {rule}: there is no {kind} {', '.join(sorted(missing))}")


def rows(rules):
    """(rule, where its advice is taken, where it is silent) of each."""
    check_names()
    for table in (WITHOUT_GAIN, ALIKE):
        gone = set(table) - set(rules)
        if gone:
            sys.exit(f"tests/planted/shown.py: there is no rule {', '.join(sorted(gone))}")
    stories = stories_with_a_silent_form()
    found = [(rule, gain_of(rule, stories), silence_of(rule, stories)) for rule in rules]
    bare = [rule for rule, gain, _ in found if not gain]
    if bare:
        sys.exit(f"tests/planted/shown.py: nothing plants {', '.join(bare)}, no golden story has a silent form, and no reason says why")
    return found
