/* SPDX-License-Identifier: MIT
 *
 * Owns: the last short sleeps of main threads, and of those that these wait for. Threads: one. State: a ring per
 * process that sleeps. Never: counts a sleep twice.
 */
#include "lock_sleeps.h"

#include <stdlib.h>

#include "facts/path/beside_pauses.h"
#include "facts/path/critical_path.h"

enum { KEPT = 256 };

struct pt_lock_sleeper {
    struct {
        const struct pt_thread *thread;
        pt_i64 start_ns, end_ns;
    } last[KEPT]; /* end 0 = counted */
    pt_u64 n, held;
    pt_i64 held_ns;
};

void pt_lock_sleeps_open(struct pt_lock_sleeps *sleeps, const struct pt_profile *profile)
{
    sleeps->facts = profile->facts;
    sleeps->n = profile->session->n_processes;
    sleeps->processes = pt_calloc(sleeps->n, sizeof *sleeps->processes);
}

void pt_lock_sleeps_event(struct pt_lock_sleeps *sleeps, const struct pt_event *event)
{
    if (event->duration_ns >= PT_SHORT_SLEEP_NS || !pt_path_is_own(sleeps->facts->paths, event))
        return;
    struct pt_lock_sleeper **slot = &sleeps->processes[event->process->index];
    if (!*slot)
        *slot = pt_calloc(1, sizeof **slot);
    const pt_u64 at = (*slot)->n++ % KEPT;
    (*slot)->last[at].thread = event->thread;
    (*slot)->last[at].start_ns = event->start_ns;
    (*slot)->last[at].end_ns = pt_event_end_ns(event);
}

void pt_lock_sleeps_held(struct pt_lock_sleeps *sleeps, const struct pt_thread *thread, pt_i64 from_ns, pt_i64 until_ns)
{
    struct pt_lock_sleeper *sleeper = thread ? sleeps->processes[thread->process->index] : NULL;
    if (!sleeper)
        return;
    for (pt_u64 i = sleeper->n; i > 0 && i + KEPT > sleeper->n; i--) {
        const pt_u64 at = (i - 1) % KEPT;
        const pt_i64 start_ns = sleeper->last[at].start_ns, end_ns = sleeper->last[at].end_ns;
        if (!end_ns || sleeper->last[at].thread != thread)
            continue;
        if (end_ns <= from_ns)
            break;
        const pt_i64 common_ns = (end_ns < until_ns ? end_ns : until_ns) - (start_ns > from_ns ? start_ns : from_ns);
        if (common_ns * 2 < end_ns - start_ns)
            continue;
        sleeper->held++;
        sleeper->held_ns += end_ns - start_ns;
        sleeper->last[at].end_ns = 0;
    }
}

void pt_lock_sleeps_close(struct pt_lock_sleeps *sleeps, struct pt_profile *profile)
{
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        pt_u64 held = 0;
        pt_i64 held_ns = 0;
        for (pt_u32 i = 0; i < sleeps->n; i++) {
            const struct pt_lock_sleeper *sleeper = sleeps->processes[i];
            if (!sleeper || profile->stages.of_process[i] != stage)
                continue;
            held += sleeper->held;
            held_ns += sleeper->held_ns;
        }
        pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "sleep.under_lock.calls", pt_integer(held));
        pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "sleep.under_lock.total_s", pt_seconds(held_ns));
    }
    for (pt_u32 i = 0; i < sleeps->n; i++)
        free(sleeps->processes[i]);
    free(sleeps->processes);
}
