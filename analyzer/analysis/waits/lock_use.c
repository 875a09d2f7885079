/* SPDX-License-Identifier: MIT
 *
 * Owns: the use of a semaphore. Threads: one per struct. Never: allocates; counts a thread that only posts (a producer)
 * as a holder.
 */
#include "lock_use.h"

pt_u32 pt_lock_thread_bit(const struct pt_thread *thread)
{
    return (thread->process->index * 7 + thread->index) % PT_LOCK_THREADS;
}

void pt_lock_life_share(struct pt_lock_life *life, const struct pt_lock_share *share, bool was_idle)
{
    const pt_u32 bit = pt_lock_thread_bit(share->thread);
    if (was_idle)
        life->idle_ns += (double)(share->until_ns - share->from_ns);
    life->by_ns[bit] += (double)(share->until_ns - share->from_ns);
    life->again_ns[bit] += (double)share->again_ns;
}

/* A holder of a lock also takes it: it waits for it now and then, or takes again what it posted. */
enum pt_lock_use pt_lock_life_use(const struct pt_lock_life *life)
{
    double by_all_ns = 0, by_waiters_ns = 0, again_ns = 0;
    for (pt_u32 bit = 0; bit < PT_LOCK_THREADS; bit++) {
        by_all_ns += life->by_ns[bit];
        by_waiters_ns += life->waiters >> bit & 1 ? life->by_ns[bit] : life->again_ns[bit];
        again_ns += life->again_ns[bit];
    }
    if (by_all_ns <= 0)
        return PT_LOCK_USE_UNKNOWN;
    if (life->starts_at_0 || life->idle_ns > by_all_ns / 2)
        return PT_LOCK_USE_SIGNAL;
    const bool is_lock = (life->waits > 1 && by_waiters_ns > life->all_ns / 2) || again_ns > life->all_ns / 2;
    return is_lock ? PT_LOCK_USE_LOCK : PT_LOCK_USE_SIGNAL;
}
