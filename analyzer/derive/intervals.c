/* SPDX-License-Identifier: MIT
 *
 * Owns: the walk over the intervals between samples. Threads: any. State: the caller's. Never: fills in what is
 * unknown.
 */
#include "intervals.h"

#include <math.h>

bool pt_next_interval(const struct pt_run_stage *run, struct pt_sample_interval *interval)
{
    const double *machine = run->resources[PT_RESOURCE_machine_cpu_percent].samples;
    const double *stage = run->resources[PT_RESOURCE_cpu_percent].samples;
    const double *stolen = run->resources[PT_RESOURCE_machine_stolen_percent].samples;
    const double *queued_s = run->resources[PT_RESOURCE_run_queue_s].samples;
    while (machine && stage && queued_s && interval->n_seen < run->n_samples) {
        const pt_u32 i = interval->n_seen++;
        interval->length_s = run->sample_t_s[i] - interval->end_s;
        interval->end_s = run->sample_t_s[i];
        interval->queued_s = queued_s[i] - interval->queued_until_s;
        interval->queued_until_s = isnan(queued_s[i]) ? interval->queued_until_s : queued_s[i];
        interval->machine_percent = machine[i];
        interval->stage_percent = stage[i];
        interval->stolen_percent = stolen && !isnan(stolen[i]) ? stolen[i] : 0;
        if (interval->length_s > 0 && !isnan(machine[i]) && !isnan(stage[i]))
            return true;
    }
    return false;
}
