/* SPDX-License-Identifier: MIT
 *
 * thin.c - Owns: how samples become fewer. Threads: any. Never: touches those of a stage that runs.
 */
#include "thin.h"

#include <math.h>

double pt_run_merged(enum pt_merge merge, double value, double other, size_t weight)
{
    if (isnan(value) || isnan(other))
        return isnan(value) ? other : value;
    switch (merge) {
    case PT_MERGE_MEAN:
        return value + (other - value) / (double)(weight + 1);
    case PT_MERGE_MAX:
        return fmax(value, other);
    case PT_MERGE_TOTAL:
        break;
    }
    return other;
}

/* A pair is of the time of its second one; the last of an odd number stays as it is. */
size_t pt_run_halve(double *t_s, struct pt_run_resource resources[static PT_RESOURCE__COUNT], size_t n)
{
    const size_t pairs = n / 2, rest = n % 2;
    for (size_t i = 0; i < pairs; i++)
        t_s[i] = t_s[2 * i + 1];
    if (rest)
        t_s[pairs] = t_s[n - 1];
    for (size_t r = 0; r < PT_RESOURCE__COUNT; r++) {
        double *values = resources[r].samples;
        for (size_t i = 0; values && i < pairs; i++)
            values[i] = pt_run_merged(pt_resources[r].merge, values[2 * i], values[2 * i + 1], 1);
        if (values && rest)
            values[pairs] = values[n - 1];
    }
    return pairs + rest;
}

static bool has_ended(const struct pt_run_stage *stage)
{
    return stage->status != NULL;
}

void pt_run_thin(const struct pt_run_info *run)
{
    enum { MOST_OF_ENDED = PT_RUN_MOST_SAMPLES - PT_RUN_STAGE_SAMPLES };
    for (;;) {
        struct pt_run_stage *longest = NULL;
        size_t n = 0;
        for (pt_u32 i = 0; i < run->n_stages; i++) {
            struct pt_run_stage *stage = &run->stages[i];
            if (!has_ended(stage))
                continue;
            n += stage->n_samples;
            if (!longest || stage->n_samples > longest->n_samples)
                longest = stage;
        }
        if (n <= MOST_OF_ENDED)
            return;
        longest->n_samples = (pt_u32)pt_run_halve(longest->sample_t_s, longest->resources, longest->n_samples);
    }
}
