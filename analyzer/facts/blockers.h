/* SPDX-License-Identifier: MIT
 *
 * facts/blockers.h - who was waited for: the thread that holds a lock or is joined, a child, whoever writes to a pipe
 * or answers on a socket; and on into whom that one waited for meanwhile.
 */
#ifndef PT_FACTS_BLOCKERS_H
#define PT_FACTS_BLOCKERS_H

#include "state.h"

enum { PT_MOST_STEPS = 4 }; /* from one that waits to one that it waits for */

/* Whom a call waited for, as far as it tells. Once per event: it is what notes who uses a channel, or lets others go
 * on. Of a lock that several held in turn: who held it longest; facts->call has all of them. */
void pt_blocker_note(struct pt_facts *facts, const struct pt_event *event, struct pt_span *span);
/* The current call waited for several: as many waits, each for one. Returns how many. */
pt_u32 pt_blocker_waits(const struct pt_facts *facts, struct pt_span ret_waits[PT_LOCK_TURNS + 1]);
/* The thread's timeline shall have them so. */
void pt_blocker_divide(struct pt_facts *facts, pt_u32 thread);
/* The thread that a piece of what `waiter` did was waiting for; NULL = nobody, or nobody knows yet. */
const struct pt_thread *pt_blocker_of(const struct pt_facts *facts, const struct pt_thread *waiter,
                                      const struct pt_piece *wait);
/* Whether it may be known later: the other side comes back from its call later than the one that waited. */
static inline bool pt_blocker_may_come(const struct pt_span *wait)
{
    return wait->blocker_kind == PT_BLOCKER_WRITER || wait->blocker_kind == PT_BLOCKER_READER;
}

/* A thread, whom it waited for, and so on: each piece of what the last one did goes through `show`. */
struct pt_chain {
    const struct pt_facts *facts;
    /* `into`: whom it waited for, whose pieces come next; NULL = nobody that is followed. */
    void (*show)(struct pt_chain *chain, const struct pt_piece *piece, const struct pt_thread *into);
    /* May the last one be followed into `target` for [start, end) of the wait? NULL = it may. */
    bool (*enter)(struct pt_chain *chain, const struct pt_piece *wait, const struct pt_thread *target);
    const struct pt_thread *threads[PT_MOST_STEPS + 1]; /* the first waits for the second ... */
    pt_u32 n;
};

/* What a thread did between two times. */
void pt_chain_split(struct pt_chain *chain, const struct pt_thread *thread, pt_i64 start_ns, pt_i64 end_ns);
/* A wait of `waiter`, which is the first of the chain. Shows only what others did; false = nobody was followed into. */
bool pt_chain_follow(struct pt_chain *chain, const struct pt_thread *waiter, const struct pt_span *wait);

#endif
