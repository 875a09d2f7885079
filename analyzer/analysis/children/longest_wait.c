/* SPDX-License-Identifier: MIT
 *
 * Owns: how long each main thread waited for its workers, and the one that did so longest. Threads: one. Never: adds up
 * the waits of several processes: what one of them needs is told by its own.
 */
#include "longest_wait.h"

/* The wait of an event loop may be told twice, and before the call behind it. */
void pt_children_longest_wait_add(struct pt_children *children, const struct pt_event *event)
{
    struct pt_children_process *own = &children->processes[event->process->index];
    const struct pt_process **longest =
        &children->stages[pt_profile_stage_of(children->profile, event->process)].waits_longest;
    const pt_i64 from_ns = event->start_ns > own->waited_until_ns ? event->start_ns : own->waited_until_ns;
    const pt_i64 ns = pt_event_end_ns(event) > from_ns ? pt_event_end_ns(event) - from_ns : 0;
    own->waited_ns += ns;
    own->waited_until_ns = from_ns + ns;
    if (!*longest || own->waited_ns > children->processes[(*longest)->index].waited_ns)
        *longest = event->process;
}

void pt_children_longest_wait_results(const struct pt_children *children, pt_u32 stage)
{
    struct pt_metrics *metrics = &children->profile->metrics;
    const struct pt_process *one = children->stages[stage].waits_longest;
    const struct pt_value none = pt_unknown("no main thread waited for a worker");
    pt_metrics_set(metrics, pt_scope_stage(stage), "helpers.of_one_process.wait_s",
                   one ? pt_real((double)children->processes[one->index].waited_ns / 1e9) : none);
    pt_metrics_set(metrics, pt_scope_stage(stage), "helpers.of_one_process.lived_s",
                   one ? pt_real((double)(one->end_ns - one->start_ns) / 1e9) : none);
}
