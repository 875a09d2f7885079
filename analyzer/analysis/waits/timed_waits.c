/* SPDX-License-Identifier: MIT
 *
 * Owns: which waits ran out of time, thread by thread, and how each round of them ended. Threads: one. State: one small
 * struct for each thread that has such. Never: counts a long one: whoever has a second to wait is not in a hurry.
 */
#include "timed_waits.h"

#include <errno.h>
#include <stdlib.h>

#include "proftrace/payloads.h"
#include "lock_sleeps.h"

/* Between two waits of a round: what the loop does, on a busy machine, too. And the least that a wait lasts which was
 * for the answer: a lock that another thread holds for a moment is none. */
#define CLOSE_NS 5000000
#define LEAST_ANSWER_NS 200000

static bool ran_out(const struct pt_event *event)
{
    if (event->desc->kind == PT_KIND_lock_cond)
        return event->tag == ETIMEDOUT;
    return event->desc->kind == PT_KIND_lock_sem && event->result == -ETIMEDOUT;
}

static bool is_answer(const struct pt_event *event)
{
    const bool is_of_both = event->desc->kind == PT_KIND_lock_cond || event->desc->kind == PT_KIND_lock_sem;
    return is_of_both && event->duration_ns >= LEAST_ANSWER_NS;
}

static struct pt_timed_waiter *waiter_of(struct pt_timed_waits *waits, const struct pt_thread *thread)
{
    pt_u64 *slot = pt_map_at(&waits->by_thread, (pt_u64)(uintptr_t)thread);
    if (!*slot) {
        pt_vec_push(waits, ((struct pt_timed_waiter){.thread = thread}));
        *slot = waits->n;
    }
    return &waits->items[*slot - 1];
}

void pt_timed_waits_event(struct pt_timed_waits *waits, const struct pt_event *event)
{
    const bool has_run_out = ran_out(event) && event->duration_ns < PT_SHORT_SLEEP_NS;
    if (!has_run_out && (!is_answer(event) || !pt_map_find(&waits->by_thread, (pt_u64)(uintptr_t)event->thread)))
        return;
    struct pt_timed_waiter *waiter = waiter_of(waits, event->thread);
    const bool goes_on = waiter->last_end_ns && event->start_ns - waiter->last_end_ns <= CLOSE_NS;
    waiter->answered += goes_on && !has_run_out;
    waiter->rounds += has_run_out && !goes_on;
    waiter->calls += has_run_out;
    waiter->ns += has_run_out ? (pt_u64)event->duration_ns : 0;
    waiter->last_end_ns = has_run_out ? pt_event_end_ns(event) : 0;
}

bool pt_timed_waits_poll(const struct pt_timed_waiter *waiter)
{
    return 2 * waiter->answered < waiter->rounds;
}

void pt_timed_waits_fini(struct pt_timed_waits *waits)
{
    free(waits->items);
    pt_map_fini(&waits->by_thread);
}
