/* SPDX-License-Identifier: MIT
 *
 * Owns: which waits ran out of time, thread by thread, and how each round of them ended. Threads: one. State: one small
 * struct for each thread that has such. Never: counts a long one: whoever has a second to wait is not in a hurry;
 * takes a server's timers for polling, or a task that paces itself, or one that ticks beside others.
 */
#include "timed_waits.h"

#include <errno.h>
#include <stdlib.h>

#include "proftrace/payloads.h"
#include "facts/path/beside_pauses.h"

/* An event loop: between two looks at the same thing it does little, far less than where it found something (a batch of
 * 1 ms, after looks of 20 us); and a task that always goes on after one pause paces itself. */
#define CLOSE_IN_LOOP_NS 500000
#define MOST_CLOSE_IN_LOOP_NS 2000000
#define TIMES_USUAL 20
enum { FEWEST_ROUNDS_OF_LOOP = 8, LEAST_LOOKS_OF_4_ROUNDS = 5 };

/* Between two waits of a round: what the loop does, on a busy machine, too. And the least that a wait lasts which was
 * for the answer: a lock that another thread holds for a moment is none. */
#define CLOSE_NS 5000000
#define LEAST_ANSWER_NS 200000

static bool ran_out(const struct pt_event *event)
{
    if (event->desc->kind == PT_KIND_wait_poll)
        return event->result == 0 && pt_event_as(event, wait_poll)->timeout_ms > 0;
    if (event->desc->kind == PT_KIND_lock_cond)
        return event->tag == ETIMEDOUT;
    return event->desc->kind == PT_KIND_lock_sem && event->result == -ETIMEDOUT;
}

static bool is_answer(const struct pt_event *event)
{
    if (event->desc->kind == PT_KIND_wait_poll)
        return event->result > 0;
    const bool is_of_both = event->desc->kind == PT_KIND_lock_cond || event->desc->kind == PT_KIND_lock_sem;
    return is_of_both && event->duration_ns >= LEAST_ANSWER_NS;
}

/* Idle threads of a library have done nothing since they began to wait for work. */
static pt_i64 others_until_ns(const struct pt_timed_waits *waits, const struct pt_thread *thread)
{
    const struct pt_process *process = thread->process;
    pt_i64 until_ns = 0;
    if (!waits->session)
        return 0;
    for (pt_u32 i = 0; i < process->n_threads; i++)
        if (&process->threads[i] != thread && process->threads[i].end_ns > until_ns)
            until_ns = process->threads[i].end_ns;
    for (pt_u32 i = 0; process->has_children && i < waits->session->n_processes; i++) {
        const struct pt_process *child = waits->session->processes[i];
        until_ns = child->parent == process && child->end_ns > until_ns ? child->end_ns : until_ns;
    }
    return until_ns;
}

static struct pt_timed_waiter *waiter_of(struct pt_timed_waits *waits, const struct pt_thread *thread)
{
    pt_u64 *slot = pt_map_at(&waits->by_thread, (pt_u64)(uintptr_t)thread);
    if (!*slot) {
        pt_vec_push(waits,
                    ((struct pt_timed_waiter){.thread = thread, .others_until_ns = others_until_ns(waits, thread)}));
        *slot = waits->n;
    }
    return &waits->items[*slot - 1];
}

/* No signal and no descriptor ended it. */
static void end_round(struct pt_timed_waiter *waiter)
{
    waiter->unanswered.rounds += waiter->now.rounds;
    waiter->unanswered.calls += waiter->now.calls;
    waiter->unanswered.ns += waiter->now.ns;
    waiter->unanswered.last_ns += waiter->now.last_ns;
    waiter->now = (struct pt_timed_round){0};
}

static void add_to_round(struct pt_timed_waiter *waiter, const struct pt_event *event)
{
    waiter->now.rounds = 1;
    waiter->now.calls++;
    waiter->now.ns += (pt_u64)event->duration_ns;
    waiter->now.last_ns = (pt_u64)event->duration_ns;
}

/* A running median, in steps of a sixteenth. */
static void note_gap(struct pt_timed_waiter *waiter, pt_i64 gap_ns)
{
    pt_i64 *usual_ns = &waiter->usual_gap_ns;
    if (!*usual_ns)
        *usual_ns = gap_ns;
    else
        *usual_ns += gap_ns > *usual_ns ? *usual_ns / 16 + 1 : -*usual_ns / 16;
}

/* Of an event loop it depends on how little it does. Where no thread or child is there that may make anything
 * ready, its tasks pace themselves, and what they write now and then ends no round. */
static pt_i64 close_ns(struct pt_timed_waiter *waiter, const struct pt_event *event)
{
    if (event->desc->kind != PT_KIND_wait_poll)
        return CLOSE_NS;
    const pt_i64 gap_ns = event->start_ns - waiter->last_end_ns;
    if (waiter->last_end_ns && gap_ns > 0 && gap_ns <= MOST_CLOSE_IN_LOOP_NS)
        note_gap(waiter, gap_ns);
    if (waiter->others_until_ns <= event->start_ns)
        return MOST_CLOSE_IN_LOOP_NS;
    const pt_i64 close = TIMES_USUAL * waiter->usual_gap_ns;
    return close < CLOSE_IN_LOOP_NS ? CLOSE_IN_LOOP_NS : close < MOST_CLOSE_IN_LOOP_NS ? close : MOST_CLOSE_IN_LOOP_NS;
}

void pt_timed_waits_event(struct pt_timed_waits *waits, const struct pt_event *event)
{
    const bool has_run_out = ran_out(event) && event->duration_ns < PT_SHORT_SLEEP_NS;
    if (!has_run_out && (!is_answer(event) || !pt_map_find(&waits->by_thread, (pt_u64)(uintptr_t)event->thread)))
        return;
    struct pt_timed_waiter *waiter = waiter_of(waits, event->thread);
    const bool goes_on = waiter->last_end_ns && event->start_ns - waiter->last_end_ns <= close_ns(waiter, event);
    waiter->answered += goes_on && !has_run_out;
    waiter->rounds += has_run_out && !goes_on;
    waiter->calls += has_run_out;
    waiter->ns += has_run_out ? (pt_u64)event->duration_ns : 0;
    if (has_run_out && !goes_on)
        end_round(waiter);
    if (has_run_out)
        add_to_round(waiter, event);
    else if (goes_on)
        waiter->now = (struct pt_timed_round){0};
    waiter->last_end_ns = has_run_out ? pt_event_end_ns(event) : 0;
}

bool pt_timed_waits_poll(const struct pt_timed_waiter *waiter)
{
    return 2 * waiter->answered < waiter->rounds;
}

/* The thread had to wait for the GIL before it could look. */
void pt_timed_waits_gil(struct pt_timed_waits *waits, const struct pt_event *event)
{
    const pt_u64 *slot = pt_map_find(&waits->by_thread, (pt_u64)(uintptr_t)event->thread);
    struct pt_timed_waiter *waiter = slot ? &waits->items[*slot - 1] : NULL;
    if (waiter && waiter->last_end_ns)
        waiter->last_end_ns += event->duration_ns;
}

bool pt_timed_waits_poll_in_loop(struct pt_timed_waiter *waiter)
{
    end_round(waiter);
    const struct pt_timed_round *unanswered = &waiter->unanswered;
    return unanswered->rounds >= FEWEST_ROUNDS_OF_LOOP &&
           4 * unanswered->calls >= LEAST_LOOKS_OF_4_ROUNDS * unanswered->rounds && pt_timed_waits_poll(waiter);
}

void pt_timed_waits_fini(struct pt_timed_waits *waits)
{
    free(waits->items);
    pt_map_fini(&waits->by_thread);
}
