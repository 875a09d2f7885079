/* SPDX-License-Identifier: MIT
 *
 * Which range a thread was in, and when: own code between calls is told by the range that was open then, not by the one
 * in which the next piece of work was launched.
 *
 * Threads: one. State: a ring of changes per thread. Never: names a range that was not open.
 */
#include "gpu.h"

void gpu_threads_turn(struct gpu *gpu, const struct pt_event *e)
{
    struct gpu_thread *thread = gpu_thread_of(gpu, e->thread);
    const pt_u32 node = gpu_node_of(gpu, e->thread);
    const struct gpu_turn *last = thread->n_turns ? &thread->turns[(thread->n_turns - 1) % GPU_MOST_TURNS] : NULL;
    if (node == (last ? last->node : 0))
        return;
    if (!thread->turns)
        thread->turns = pt_calloc(GPU_MOST_TURNS, sizeof *thread->turns);
    thread->turns[thread->n_turns++ % GPU_MOST_TURNS] = (struct gpu_turn){e->start_ns, node};
}

/* A thread that never had ranges works for the only one of its process that has. */
static const struct gpu_thread *ranging_thread(const struct gpu *gpu, const struct pt_thread *thread)
{
    const struct gpu_thread *found = gpu_thread_of(gpu, thread);
    const pt_u32 first = gpu->first_thread[thread->process->index];
    for (pt_u32 i = 0; !found->turns && i < thread->process->n_threads; i++)
        if (gpu->threads[first + i].turns)
            found = &gpu->threads[first + i];
    return found;
}

const char *gpu_range_before(const struct gpu *gpu, const struct pt_thread *thread, pt_i64 end_ns, pt_i64 *ret_start_ns)
{
    const struct gpu_thread *own = ranging_thread(gpu, thread);
    *ret_start_ns = INT64_MIN;
    for (pt_u64 i = 0; i < own->n_turns && i < GPU_MOST_TURNS; i++) {
        const struct gpu_turn *turn = &own->turns[(own->n_turns - 1 - i) % GPU_MOST_TURNS];
        if (turn->start_ns >= end_ns)
            continue;
        *ret_start_ns = turn->start_ns;
        return gpu->nodes.items[turn->node].name;
    }
    return NULL;
}
