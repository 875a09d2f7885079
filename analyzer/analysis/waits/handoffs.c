/* SPDX-License-Identifier: MIT
 *
 * Owns: turns at a lock and the use of a semaphore. Threads: one per struct. Never: allocates; takes a thread that
 * only gives (a producer) for one that holds.
 */
#include "handoffs.h"

void pt_lock_turns_add(struct pt_lock_turns *turns, const struct pt_thread *thread, pt_i64 at_ns, pt_u64 waits)
{
    struct pt_lock_turn *last = turns->n ? &turns->last[(turns->n - 1) % PT_LOCK_TURNS] : NULL;
    if (!last || last->thread != thread) {
        turns->last[turns->n++ % PT_LOCK_TURNS] =
            (struct pt_lock_turn){.thread = thread, .until_ns = at_ns, .waits = waits};
        return;
    }
    /* Nobody who waited got what it gave: it took it again itself. */
    last->again_ns = last->waits == waits ? last->again_ns + at_ns - last->until_ns : 0;
    last->until_ns = at_ns;
    last->waits = waits;
}

pt_u32 pt_lock_turns_share(const struct pt_lock_turns *turns, pt_i64 start_ns, pt_i64 end_ns,
                           struct pt_lock_share ret_shares[PT_LOCK_TURNS])
{
    const pt_u64 kept = turns->n < PT_LOCK_TURNS ? turns->n : PT_LOCK_TURNS;
    pt_i64 from_ns = start_ns;
    pt_u32 n = 0;
    for (pt_u64 i = turns->n - kept; i < turns->n; i++) {
        const struct pt_lock_turn *turn = &turns->last[i % PT_LOCK_TURNS];
        const pt_i64 until_ns = turn->until_ns < end_ns ? turn->until_ns : end_ns;
        if (until_ns <= from_ns)
            continue;
        const pt_i64 ns = until_ns - from_ns;
        ret_shares[n++] = (struct pt_lock_share){.thread = turn->thread,
                                                 .from_ns = from_ns,
                                                 .until_ns = until_ns,
                                                 .again_ns = turn->again_ns < ns ? turn->again_ns : ns};
        from_ns = until_ns;
    }
    return n;
}

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

/* Who holds a lock takes it, too: it waits for it now and then, or takes again what it gave. */
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
