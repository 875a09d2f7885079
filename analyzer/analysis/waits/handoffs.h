/* SPDX-License-Identifier: MIT
 *
 * waits/handoffs.h - whose turn it was: which threads let those go on that wait for a lock, a semaphore or a condition,
 * and whether a semaphore is used as a lock or as a signal. For locks.c only.
 *
 * While somebody waits, each post and signal is an event. Who posts held a semaphore that is used as a lock since the
 * post before.
 */
#ifndef PT_ANALYSIS_WAITS_HANDOFFS_H
#define PT_ANALYSIS_WAITS_HANDOFFS_H

#include "analysis/analysis.h"

enum { PT_LOCK_TURNS = 32, PT_LOCK_THREADS = 64 };

struct pt_lock_turn {
    const struct pt_thread *thread;
    pt_i64 until_ns; /* its last post; it began at the end of the turn before */
    pt_i64 again_ns; /* of it: after a post that no waiter got */
    pt_u64 waits;    /* that had ended at its last post */
};

/* The last turns, in a ring. */
struct pt_lock_turns {
    struct pt_lock_turn last[PT_LOCK_TURNS];
    pt_u64 n;
};

/* `thread` lets others go on; `waits`: how many waits have ended so far. */
void pt_lock_turns_add(struct pt_lock_turns *turns, const struct pt_thread *thread, pt_i64 at_ns, pt_u64 waits);

/* A part of a wait, and whose turn it was. */
struct pt_lock_share {
    const struct pt_thread *thread;
    pt_i64 from_ns, until_ns, again_ns;
};
/* The parts of a wait, in the order of time; returns how many. */
pt_u32 pt_lock_turns_share(const struct pt_lock_turns *turns, pt_i64 start_ns, pt_i64 end_ns,
                           struct pt_lock_share ret_shares[PT_LOCK_TURNS]);

/* A semaphore from one sem_init to the next: Python's conditions make one for each wait, at addresses used before. */
struct pt_lock_life {
    bool starts_at_0; /* nobody could take it: a signal */
    pt_u64 waits;     /* that ended well */
    pt_u64 waiters;   /* a bit per thread */
    double all_ns;
    double idle_ns;                                           /* of it: who had it waited for data itself */
    double by_ns[PT_LOCK_THREADS], again_ns[PT_LOCK_THREADS]; /* of it: by who ended it */
};

pt_u32 pt_lock_thread_bit(const struct pt_thread *thread);
void pt_lock_life_share(struct pt_lock_life *life, const struct pt_lock_share *share, bool was_idle);

enum pt_lock_use { PT_LOCK_USE_UNKNOWN /* nobody was seen to post */, PT_LOCK_USE_LOCK, PT_LOCK_USE_SIGNAL };
enum pt_lock_use pt_lock_life_use(const struct pt_lock_life *life);

#endif
