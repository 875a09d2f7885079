/* SPDX-License-Identifier: MIT
 *
 * Owns: what the critical paths did in their calls. Threads: one while there are events, then any. Never: counts what a
 * launcher waits for its child: the path is the child then.
 */
#include "path_time.h"

#include <math.h>
#include <stdlib.h>

#include "util/mem.h"
#include "critical_path.h"

struct pt_path_times *pt_path_times_open(const struct pt_profile *profile)
{
    struct pt_path_times *times = pt_calloc(1, sizeof *times);
    times->stages = pt_calloc(profile->stages.n, sizeof *times->stages);
    times->last_ns = pt_calloc(profile->session->n_processes, sizeof *times->last_ns);
    return times;
}

void pt_path_times_close(struct pt_path_times *times)
{
    free(times->stages);
    free(times->last_ns);
    free(times);
}

void pt_path_time_call(struct pt_facts *facts, const struct pt_event *event)
{
    const struct pt_span *span = &facts->call.span;
    const pt_i64 ns = pt_path_critical_ns(facts->paths, event->thread, span->start_ns, span->end_ns);
    if (ns <= 0 || event->duration_ns <= 0)
        return;
    struct pt_path_time *time = &facts->path_times->stages[pt_profile_stage_of(facts->profile, event->process)];
    pt_i64 *last_ns = &facts->path_times->last_ns[event->process->index];
    *last_ns = span->end_ns > *last_ns ? span->end_ns : *last_ns;
    time->ns[span->part] += (double)facts->call.own_ns * (double)ns / (double)event->duration_ns;
}

/* Without any of these some waits are not seen. */
static bool has_waits(const struct pt_process *process)
{
    const pt_u32 needed = 1 << PT_LAYER_IO | 1 << PT_LAYER_LOCKS | 1 << PT_LAYER_WAITS | 1 << PT_LAYER_NET;
    return !((process->layers_off | process->layers_unknown) & needed);
}

static double in_last_call_ns(const struct pt_facts *facts, const struct pt_path_piece *piece)
{
    const struct pt_process *process = piece->process;
    const bool ended_well = process->state == PT_PROCESS_EXITED || process->state == PT_PROCESS_EXECED;
    const pt_i64 last_ns = facts->path_times->last_ns[process->index];
    const pt_i64 from_ns = last_ns > piece->from_ns ? last_ns : piece->from_ns;
    return ended_well ? 0 : fmax((double)(piece->until_ns - from_ns), 0);
}

double pt_path_time_s(const struct pt_facts *facts, pt_u32 stage, pt_u32 parts)
{
    const struct pt_critical_path *path = &facts->paths->stages[stage];
    double ns = 0;
    if (!path->n)
        return INFINITY;
    for (size_t i = 0; i < path->n; i++) {
        if (!has_waits(path->items[i].process))
            return INFINITY;
        ns += in_last_call_ns(facts, &path->items[i]);
    }
    for (int part = 0; part < PT_PART__COUNT; part++)
        ns += parts >> part & 1 ? facts->path_times->stages[stage].ns[part] : 0;
    const pt_i64 beyond_ns = facts->profile->stages.items[stage].end_ns - path->items[path->n - 1].until_ns;
    return (ns + fmax((double)beyond_ns, 0)) / 1e9;
}
