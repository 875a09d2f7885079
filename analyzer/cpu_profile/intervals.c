/* SPDX-License-Identifier: MIT
 *
 * intervals.c - Owns: which waits were for pages. Threads: main only. Never: counts a wait as one for a page if the
 * thread has computed since; counts one twice.
 */
#include "intervals.h"

/* Waking up, mapping the page and its neighbours. A program that has come back from a system call may be as quick, but
 * its next fault then must find its page without waiting, to be taken for this one. */
#define MOST_RAN_NS 500000u

static void keep(struct pt_intervals *intervals, const struct pt_live_thread *thread, pt_u64 start_ns, pt_u64 end_ns,
                 enum pt_cpu_interval_kind kind)
{
    /* Main threads are critical: hundreds of other threads must not use up their room. */
    const bool is_main = thread->shown.pid == thread->shown.tid;
    if (end_ns <= start_ns || intervals->n >= (is_main ? PT_CPU_INTERVALS_MAX : PT_CPU_INTERVALS_MAX / 2))
        return;
    const struct pt_cpu_interval item = {start_ns, end_ns - start_ns, thread->shown.number, kind};
    pt_chunk_add(&intervals->items, &item, sizeof item);
    intervals->n++;
}

static void waited_for_page(struct pt_intervals *intervals, struct pt_live_thread *thread, pt_u64 start_ns,
                            pt_u64 end_ns)
{
    thread->faults.thread = thread->shown.number;
    thread->faults.waits_ns += end_ns > start_ns ? end_ns - start_ns : 0;
    thread->is_dirty = true;
    keep(intervals, thread, start_ns, end_ns, PT_CPU_INTERVAL_FAULT);
}

void pt_intervals_switch_out(struct pt_live_thread *thread, pt_u64 t_ns)
{
    struct pt_last_wait *last = &thread->last;
    if (thread->state == PT_THREAD_ON && t_ns > last->on_since_ns)
        last->ran_ns += t_ns - last->on_since_ns;
}

void pt_intervals_switch_in(struct pt_intervals *intervals, struct pt_live_thread *thread, pt_u64 t_ns)
{
    struct pt_last_wait *last = &thread->last;
    last->on_since_ns = t_ns;
    if (!thread->is_off) /* it was just made, or the record that it left is lost */
        return;
    if (thread->state == PT_THREAD_PREEMPTED)
        keep(intervals, thread, thread->wait.t_ns, t_ns, PT_CPU_INTERVAL_PREEMPTED);
    if (thread->state != PT_THREAD_WAITING)
        return;
    if (thread->misses_page) {
        waited_for_page(intervals, thread, thread->wait.t_ns, t_ns);
        last->start_ns = last->end_ns = 0; /* a report of it is no second one */
        return;
    }
    last->start_ns = thread->wait.t_ns;
    last->end_ns = t_ns;
    last->ran_ns = 0;
}

void pt_intervals_fault(struct pt_intervals *intervals, struct pt_live_thread *thread, pt_u64 t_ns)
{
    struct pt_last_wait *last = &thread->last;
    thread->faults.thread = thread->shown.number;
    thread->faults.faults++;
    thread->is_dirty = true;
    const pt_u64 runs_ns = thread->state == PT_THREAD_ON && t_ns > last->on_since_ns ? t_ns - last->on_since_ns : 0;
    if (last->end_ns <= last->start_ns || last->ran_ns + runs_ns > MOST_RAN_NS)
        return;
    waited_for_page(intervals, thread, last->start_ns, last->end_ns);
    last->end_ns = last->start_ns = 0;
}
