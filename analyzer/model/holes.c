/* SPDX-License-Identifier: MIT
 *
 * holes.c - Owns: the holes in the records of each thread. Threads: one, while the session is opened; any afterwards.
 * Never: calls what is missing before a life's first event or after its last one a hole: nothing is on both sides of
 * it.
 */
#include "holes.h"

void pt_threads_find_holes(struct pt_process_data *data, const struct pt_trace_slot *slot, struct pt_thread *threads,
                           pt_u32 n_threads)
{
    const struct pt_slot_blocks *blocks = &slot->blocks[PT_BUFFER_RECORDS];
    const struct pt_block_run *before = NULL;
    struct pt_hole *holes = NULL;
    pt_u32 of = 0;
    size_t n = 0;
    for (size_t r = 0; r < blocks->runs.n; r++) {
        const struct pt_block_run *run = &blocks->runs.items[r];
        if (!run->events)
            continue;
        while (of < n_threads && threads[of].life < run->life)
            of++;
        if (before && before->life == run->life && run->first_event > before->end_event && of < n_threads &&
            threads[of].life == run->life) {
            holes = holes ? holes : pt_arena_alloc(&data->arena, blocks->runs.n * sizeof *holes);
            threads[of].holes = threads[of].n_holes ? threads[of].holes : &holes[n];
            threads[of].n_holes++;
            holes[n++] = (struct pt_hole){pt_scale_time(&data->scale, before->last_ticks),
                                          pt_scale_time(&data->scale, run->first_ticks)};
        }
        before = run;
    }
}

const struct pt_hole *pt_thread_next_hole(const struct pt_thread *thread, pt_i64 at_ns, pt_u32 *next)
{
    if (*next >= thread->n_holes || thread->holes[*next].until_ns > at_ns)
        return NULL;
    return &thread->holes[(*next)++];
}
