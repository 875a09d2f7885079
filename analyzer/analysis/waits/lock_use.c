/* SPDX-License-Identifier: MIT
 *
 * Owns: the use of a semaphore. Threads: one per struct. Never: allocates; counts a thread that only posts (a producer)
 * as a holder.
 */
#include "lock_use.h"

static pt_u32 shared_place(const struct pt_thread *thread)
{
    return (thread->process->index * 7 + thread->index) % PT_LOCK_THREADS;
}

void pt_lock_life_clear(struct pt_lock_life *life)
{
    life->starts_at_0 = false;
    life->waits = 0;
    life->all_ns = life->idle_ns = 0;
    life->n_threads = 0;
}

static struct pt_lock_life_thread *place_of(struct pt_lock_life *life, const struct pt_thread *thread)
{
    for (pt_u32 i = 0; i < life->n_threads; i++)
        if (life->threads[i].thread == thread)
            return &life->threads[i];
    if (life->n_threads == PT_LOCK_THREADS)
        return &life->threads[shared_place(thread)];
    life->threads[life->n_threads] = (struct pt_lock_life_thread){.thread = thread};
    return &life->threads[life->n_threads++];
}

void pt_lock_life_waiter(struct pt_lock_life *life, const struct pt_thread *thread)
{
    place_of(life, thread)->waits = true;
}

void pt_lock_life_share(struct pt_lock_life *life, const struct pt_lock_share *share, bool was_idle)
{
    struct pt_lock_life_thread *by = place_of(life, share->thread);
    if (was_idle)
        life->idle_ns += (double)(share->until_ns - share->from_ns);
    by->by_ns += (double)(share->until_ns - share->from_ns);
    by->again_ns += (double)share->again_ns;
}

/* A holder of a lock also takes it: it waits for it now and then, or takes again what it posted. */
enum pt_lock_use pt_lock_life_use(const struct pt_lock_life *life)
{
    double by_all_ns = 0, by_waiters_ns = 0, again_ns = 0;
    for (pt_u32 i = 0; i < life->n_threads; i++) {
        const struct pt_lock_life_thread *by = &life->threads[i];
        by_all_ns += by->by_ns;
        by_waiters_ns += by->waits ? by->by_ns : by->again_ns;
        again_ns += by->again_ns;
    }
    if (by_all_ns <= 0)
        return PT_LOCK_USE_UNKNOWN;
    if (life->starts_at_0 || life->idle_ns > by_all_ns / 2)
        return PT_LOCK_USE_SIGNAL;
    const bool is_lock = (life->waits > 1 && by_waiters_ns > life->all_ns / 2) || again_ns > life->all_ns / 2;
    return is_lock ? PT_LOCK_USE_LOCK : PT_LOCK_USE_SIGNAL;
}
