/* SPDX-License-Identifier: MIT
 *
 * waits/timed_waits.h - short waits with a time limit, for a lock or a condition, that ended because it ran out: the
 * pauses of a polling loop, unless what they wait for ends the last of them.
 */
#ifndef PT_ANALYSIS_WAITS_TIMED_WAITS_H
#define PT_ANALYSIS_WAITS_TIMED_WAITS_H

#include "decode/event.h"
#include "util/map.h"
#include "util/vec.h"

/* Of one thread. */
struct pt_timed_waiter {
    const struct pt_thread *thread;
    pt_u64 calls, ns;        /* that ran out of time */
    pt_u64 rounds, answered; /* rounds of them, one right behind the other; and those that a signal ended */
    struct pt_timed_round {
        pt_u64 rounds, calls, ns;
        pt_u64 last_ns; /* the last wait of a round: before it, nothing was there to be seen */
    } now, unanswered;
    pt_i64 last_end_ns;     /* of a round that goes on; 0 = none */
    pt_i64 others_until_ns; /* another thread of its process does anything, or a child of it lives */
    pt_i64 usual_gap_ns;    /* between two waits of an event loop; 0 = none yet */
};

struct pt_timed_waits {
    const struct pt_session *session; /* of event loops; NULL = of locks and conditions */
    PT_VEC(struct pt_timed_waiter);
    struct pt_map by_thread; /* -> index, plus 1 */
};

/* A wait for a lock, on the critical thread of its process. */
void pt_timed_waits_event(struct pt_timed_waits *waits, const struct pt_event *event);
/* Whether it asks again and again. What is signalled was not noticed late: a queue that is asked with a time limit, so
 * that the thread can look whether it should stop. */
bool pt_timed_waits_poll(const struct pt_timed_waiter *waiter);
/* The same of an event loop: a task awaits pauses, and looks after each, many times; no descriptor wakes it. */
bool pt_timed_waits_poll_in_loop(struct pt_timed_waiter *waiter);
void pt_timed_waits_gil(struct pt_timed_waits *waits, const struct pt_event *event);
void pt_timed_waits_fini(struct pt_timed_waits *waits);

#endif
