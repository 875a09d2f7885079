/* SPDX-License-Identifier: MIT
 *
 * Owns: sums over steps. Threads: one. Never: holds more than a few steps.
 */
#include "pace.h"

#include <string.h>

static pt_i64 outside_of_phases(const struct pt_step *step)
{
    pt_i64 ns = step->ns;
    for (pt_u32 kind = 1; kind < PT_N_PHASES; kind++)
        ns -= step->phase_ns[kind];
    return ns > 0 ? ns : 0;
}

static void keep_if_slow(struct pt_pace *pace, const struct pt_step *step)
{
    pt_u32 at = pace->n_slowest;
    while (at && pace->slowest[at - 1].ns < step->ns)
        at--;
    if (at >= PT_SLOWEST_STEPS)
        return;
    pace->n_slowest += pace->n_slowest < PT_SLOWEST_STEPS;
    memmove(&pace->slowest[at + 1], &pace->slowest[at], (pace->n_slowest - 1 - at) * sizeof *pace->slowest);
    pace->slowest[at] = *step;
}

void pt_pace_add(struct pt_pace *pace, struct pt_step *step)
{
    step->number = ++pace->n;
    pace->ns += step->ns;
    step->phase_ns[0] = outside_of_phases(step);
    pt_times_add(&pace->durations, step->ns);
    for (pt_u32 kind = 0; kind < PT_N_PHASES; kind++)
        pt_times_add(&pace->phases[kind], step->phase_ns[kind]);
    keep_if_slow(pace, step);
}

enum pt_phase pt_pace_what_grew(const struct pt_pace *pace, const struct pt_step *step, pt_i64 *ret_by_ns)
{
    enum pt_phase grew = (enum pt_phase)0;
    *ret_by_ns = 0;
    for (pt_u32 kind = 0; kind < PT_N_PHASES; kind++) {
        const pt_i64 by_ns = step->phase_ns[kind] - pt_times_quantile(&pace->phases[kind], 0.5);
        if (by_ns > *ret_by_ns) {
            *ret_by_ns = by_ns;
            grew = (enum pt_phase)kind;
        }
    }
    return grew;
}
