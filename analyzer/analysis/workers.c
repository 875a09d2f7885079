/* SPDX-License-Identifier: MIT
 *
 * Owns: which process is a worker. Threads: any. Never: takes a command that a program runs for one.
 */
#include "workers.h"

#include <string.h>

static bool is_spawned_by_multiprocessing(const struct pt_process *process)
{
    for (int i = 1; i < process->argc && i < 8; i++)
        if (strstr(process->argv[i], "multiprocessing"))
            return true;
    return false;
}

bool pt_is_worker(const struct pt_process *process)
{
    const struct pt_process *parent = process->parent;
    if (!parent || parent->pid == process->pid || process->state == PT_PROCESS_EXECED)
        return false;
    if (process->previous_image)
        return is_spawned_by_multiprocessing(process);
    return process->exe && parent->exe && !strcmp(process->exe, parent->exe);
}

struct pt_value pt_split_time_cost(const struct pt_split_time *time, const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_value waited = pt_metrics_get(&profile->metrics, pt_scope_stage(stage), "helpers.wait_s");
    const double workers_s = (double)time->of_workers.total_ns / 1e9, most_s = pt_value_number(waited);
    const bool is_known = waited.type != PT_VALUE_UNKNOWN && workers_s > most_s;
    return pt_real((double)time->of_others.total_ns / 1e9 + (is_known ? most_s : workers_s));
}
