/* SPDX-License-Identifier: MIT
 *
 * Owns: how long each main thread waited for its workers, which processes load with theirs, and the one that waited
 * longest. Threads: one. Never: adds up the waits of several processes: what one of them needs is told by its own.
 */
#include "longest_wait.h"

/* The wait of an event loop may be told twice, and before the call behind it. */
void pt_children_longest_wait_add(struct pt_children *children, const struct pt_event *event)
{
    struct pt_children_process *own = &children->processes[event->process->index];
    const pt_i64 from_ns = event->start_ns > own->waited_until_ns ? event->start_ns : own->waited_until_ns;
    const pt_i64 ns = pt_event_end_ns(event) > from_ns ? pt_event_end_ns(event) - from_ns : 0;
    own->waited_ns += ns;
    own->waited_until_ns = from_ns + ns;
}

/* A forked child tells by one message that it could not execute its command: whoever made it takes no results. */
enum { LEAST_RESULTS = 2 };

/* Who started four processes that each load, and joins them, waits as long as they live: that says nothing of how many
 * workers one of these needs. It may take what came of them, too. */
void pt_children_find_loaders(struct pt_children *children)
{
    const struct pt_session *session = children->profile->session;
    for (int round = 0; round < 2; round++)
        for (pt_u32 i = 0; i < session->n_processes; i++) {
            const struct pt_process *process = session->processes[i];
            const struct pt_children_process *own = &children->processes[process->index];
            const struct pt_process *maker = own->is_worker && own->results ? pt_maker_of(process) : NULL;
            if (!maker)
                continue;
            if (round == 0)
                children->processes[maker->index].has_taken |= own->n_results >= LEAST_RESULTS;
            else if (!own->has_taken)
                children->processes[maker->index].loads = true;
        }
}

/* Where nobody is seen to take anything from a worker, as in a window behind that, it may be any of them. */
static const struct pt_process *waits_longest(const struct pt_children *children, pt_u32 stage)
{
    const struct pt_session *session = children->profile->session;
    const struct pt_process *longest = NULL;
    bool loads = false;
    pt_i64 longest_ns = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        const struct pt_children_process *own = &children->processes[process->index];
        if (pt_profile_stage_of(children->profile, process) != stage || !own->waited_ns || own->loads < loads ||
            (own->loads == loads && own->waited_ns <= longest_ns))
            continue;
        longest = process;
        longest_ns = own->waited_ns;
        loads = own->loads;
    }
    return longest;
}

void pt_children_longest_wait_results(const struct pt_children *children, pt_u32 stage)
{
    struct pt_metrics *metrics = &children->profile->metrics;
    const struct pt_process *one = waits_longest(children, stage);
    const struct pt_value none = pt_unknown("no main thread waited for a worker");
    pt_metrics_set(metrics, pt_scope_stage(stage), "helpers.of_one_process.wait_s",
                   one ? pt_real((double)children->processes[one->index].waited_ns / 1e9) : none);
    pt_metrics_set(metrics, pt_scope_stage(stage), "helpers.of_one_process.lived_s",
                   one ? pt_real((double)(one->end_ns - one->start_ns) / 1e9) : none);
}
