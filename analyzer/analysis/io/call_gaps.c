/* SPDX-License-Identifier: MIT
 *
 * Owns: the last call of each thread. Threads: one per struct. Never: counts a long gap: that is work of its own.
 */
#include "call_gaps.h"

#include <stdlib.h>

#include "facts/python.h"
#include "util/mem.h"

enum { SHORT_ONES_BEFORE_A_SLICE = 200 };
#define LONGEST_SLICE_NS 50000000

static bool is_slice(struct pt_gap_thread *thread, pt_i64 gap_ns)
{
    if (gap_ns > LONGEST_SLICE_NS || thread->short_ones < SHORT_ONES_BEFORE_A_SLICE)
        return false;
    thread->short_ones = 0;
    return true;
}

pt_u64 pt_gap_before(struct pt_gaps *gaps, const struct pt_event *event, bool is_of_kind, pt_i64 most_ns)
{
    const struct pt_process *process = event->process;
    if (!gaps->threads) {
        gaps->n_processes = process->session->n_processes;
        gaps->threads = pt_calloc(gaps->n_processes, sizeof *gaps->threads);
    }
    struct pt_gap_thread **threads = &gaps->threads[process->index];
    if (!*threads && !is_of_kind)
        return 0;
    if (!*threads)
        *threads = pt_calloc(process->n_threads, sizeof **threads);
    struct pt_gap_thread *thread = &(*threads)[event->thread->index];
    const pt_i64 gap_ns = event->start_ns - (thread->end_ns - 1);
    const bool follows = is_of_kind && thread->end_ns && gap_ns > 0, is_short = gap_ns <= most_ns;
    thread->end_ns = is_of_kind ? pt_event_end_ns(event) + 1 : 0;
    if (!follows)
        return 0;
    thread->short_ones += is_short;
    return is_short || is_slice(thread, gap_ns) ? (pt_u64)gap_ns : 0;
}

void pt_gaps_fini(struct pt_gaps *gaps)
{
    for (pt_u32 i = 0; i < gaps->n_processes; i++)
        free(gaps->threads[i]);
    free(gaps->threads);
}

pt_u64 pt_gap_of_interpreter(struct pt_gaps *gaps, const struct pt_event *event, bool is_of_kind, pt_i64 most_ns)
{
    return pt_process_has_python(event->process) ? pt_gap_before(gaps, event, is_of_kind, most_ns) : 0;
}
