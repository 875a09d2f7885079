/* SPDX-License-Identifier: MIT
 *
 * Whether a stage was looked at because it did not go on, and what it waited for then: the launcher has noted it.
 *
 * Threads: one. State: none. Never: guesses: a stage that nobody looked at has no such metric.
 */
#include "derive.h"

void pt_derive_stuck(struct pt_profile *profile)
{
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        const struct pt_run_stage *run = profile->stages.items[stage].run;
        if (!run || !run->stuck)
            continue;
        pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "stuck.looks", pt_integer(1));
        pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "stuck.where", pt_text(run->stuck));
    }
}
