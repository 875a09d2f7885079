/* SPDX-License-Identifier: MIT
 *
 * Owns: the last call of each thread. Threads: one per struct. Never: counts a long gap: that is work of its own.
 */
#include "gaps.h"

#include <stdlib.h>

#include "../util/mem.h"

pt_u64 pt_gap_before(struct pt_gaps *gaps, const struct pt_event *event, bool is_of_kind, pt_i64 most_ns)
{
    const struct pt_process *process = event->process;
    if (!gaps->ends) {
        gaps->n_processes = process->session->n_processes;
        gaps->ends = pt_calloc(gaps->n_processes, sizeof *gaps->ends);
    }
    pt_i64 **ends = &gaps->ends[process->index];
    if (!*ends && !is_of_kind)
        return 0;
    if (!*ends)
        *ends = pt_calloc(process->n_threads, sizeof **ends);
    pt_i64 *end = &(*ends)[event->thread->index];
    const pt_i64 gap_ns = event->start_ns - (*end - 1);
    const bool counts = is_of_kind && *end && gap_ns > 0 && gap_ns <= most_ns;
    *end = is_of_kind ? pt_event_end_ns(event) + 1 : 0;
    return counts ? (pt_u64)gap_ns : 0;
}

void pt_gaps_fini(struct pt_gaps *gaps)
{
    for (pt_u32 i = 0; i < gaps->n_processes; i++)
        free(gaps->ends[i]);
    free(gaps->ends);
}
