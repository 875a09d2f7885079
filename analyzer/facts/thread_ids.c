/* SPDX-License-Identifier: MIT
 *
 * Owns: threads by their pthread_t. Threads: one. Never: keeps more than MOST of them.
 */
#include "thread_ids.h"

#include "proftrace/payloads.h"

enum { MOST = 1000000, ADDRESS_BITS = 47 };

const struct pt_thread *pt_main_thread(const struct pt_process *process)
{
    for (pt_u32 i = 0; i < process->n_threads; i++)
        if (process->threads[i].tid == process->pid)
            return &process->threads[i];
    return process->n_threads ? &process->threads[0] : NULL;
}

static pt_u64 key_of(const struct pt_process *process, pt_u64 pthread)
{
    return pthread ^ (pt_u64)process->index << ADDRESS_BITS;
}

void pt_joins_note(struct pt_joins *joins, const struct pt_event *event)
{
    const pt_u64 key = key_of(event->process, pt_event_as(event, thread_start)->pthread);
    if (joins->by_pthread.n < MOST)
        *pt_map_at(&joins->by_pthread, key) = event->thread->index + 1;
}

const struct pt_thread *pt_joins_target(const struct pt_joins *joins, const struct pt_event *event)
{
    const pt_u64 key = key_of(event->process, pt_event_as(event, wait_thread)->pthread);
    const pt_u64 *index = pt_map_find(&joins->by_pthread, key);
    return index ? &event->process->threads[*index - 1] : NULL;
}

void pt_joins_fini(struct pt_joins *joins)
{
    pt_map_fini(&joins->by_pthread);
}
