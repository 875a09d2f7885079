/* SPDX-License-Identifier: MIT
 *
 * facts/blockers.h - the blocker of each wait: the thread that holds a lock or is joined, a child, the process that
 * writes to a pipe or answers on a socket; and, if that one waited, its own blocker, and so on.
 */
#ifndef PT_FACTS_BLOCKERS_H
#define PT_FACTS_BLOCKERS_H

#include "state.h"

enum { PT_MOST_STEPS = 4 }; /* from a waiting thread to its blocker */

/* Find the blocker of a call, as far as the call says. Call it once per event, because it also records users of
 * channels and hand-offs of locks. If several held the lock one after another: the one that held it longest;
 * facts->call has all of them. */
void pt_blocker_note(struct pt_facts *facts, const struct pt_event *event, struct pt_span *span);
/* The current call waited for several: as many waits, each for one. Returns how many. */
pt_u32 pt_blocker_waits(const struct pt_facts *facts, struct pt_span ret_waits[PT_LOCK_HANDOFFS + 1]);
/* The thread's timeline shall have them so. */
void pt_blocker_divide(struct pt_facts *facts, pt_u32 thread);
/* The thread that `waiter` waited for in a piece; NULL = none, or not known yet. */
const struct pt_thread *pt_blocker_of(const struct pt_facts *facts, const struct pt_thread *waiter,
                                      const struct pt_piece *wait);
/* Whether it may be known later: the blocker's call may return after that of the waiter. */
static inline bool pt_blocker_may_come(const struct pt_span *wait)
{
    return wait->blocker_kind == PT_BLOCKER_WRITER || wait->blocker_kind == PT_BLOCKER_READER;
}

/* A thread, its blocker, the blocker's blocker, and so on: `show` gets each piece of what the last one did. */
struct pt_chain {
    const struct pt_facts *facts;
    /* `into`: the blocker, whose pieces come next; NULL = none is followed. */
    void (*show)(struct pt_chain *chain, const struct pt_piece *piece, const struct pt_thread *into);
    /* May the last one be followed into `target` for [start, end) of the wait? NULL = it may. */
    bool (*enter)(struct pt_chain *chain, const struct pt_piece *wait, const struct pt_thread *target);
    const struct pt_thread *threads[PT_MOST_STEPS + 1]; /* the first waits for the second ... */
    pt_u32 n;
};

/* What a thread did between two times. */
void pt_chain_split(struct pt_chain *chain, const struct pt_thread *thread, pt_i64 start_ns, pt_i64 end_ns);
/* A wait of `waiter`, which is the first of the chain. Shows only what blockers did; false = no blocker was
 * followed. */
bool pt_chain_follow(struct pt_chain *chain, const struct pt_thread *waiter, const struct pt_span *wait);

#endif
