/* SPDX-License-Identifier: MIT
 *
 * waits/lock_turns.h - what threads that take turns at a lock could gain without it.
 *
 * Four threads that hold it in turn keep the run waiting all the time, as one of them always waits; but each would
 * still have its own quarter of the work to do. So where those that hold it are those that wait for it, the run gains
 * no more than one of them has waited, or several that did so one after another. Zeroed = nobody waited.
 */
#ifndef PT_ANALYSIS_WAITS_LOCK_TURNS_H
#define PT_ANALYSIS_WAITS_LOCK_TURNS_H

#include "model/session_types.h"
#include "util/map.h"
#include "util/vec.h"

struct pt_lock_turn {
    const struct pt_thread *thread;
    pt_i64 start_ns, end_ns; /* first and last wait */
    double waited_ns, held_ns;
    bool has_waited; /* also where that took no time */
};

struct pt_lock_turns {
    PT_VEC(struct pt_lock_turn);
    struct pt_map by_thread; /* of those behind the first few: -> index, plus 1 */
    double held_ns;          /* while somebody waited, by whomever */
};

void pt_lock_turns_waited(struct pt_lock_turns *turns, const struct pt_thread *thread, pt_i64 start_ns, pt_i64 end_ns);
/* `thread`: NULL = not known. */
void pt_lock_turns_held(struct pt_lock_turns *turns, const struct pt_thread *thread, double ns);
/* How many threads have waited. */
pt_u64 pt_lock_turns_waiters(const struct pt_lock_turns *turns);
/* The most that can be gained by what is known here; HUGE_VAL where others than the waiting threads hold it. */
double pt_lock_turns_most_s(const struct pt_lock_turns *turns);
void pt_lock_turns_fini(struct pt_lock_turns *turns);

#endif
