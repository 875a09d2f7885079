/* SPDX-License-Identifier: MIT
 *
 * clocks.h - what a thread did between its recorded calls, by the kernel's own counts of it.
 *
 * The library reads a thread's CPU clock and its switches now and then (event thread_clock). Between two readings the
 * thread was in calls, computed, could have run but was preempted, or waited where no hook saw it.
 */
#ifndef PT_FACTS_CPU_TIME_CLOCKS_H
#define PT_FACTS_CPU_TIME_CLOCKS_H

#include "decode/event.h"
#include "facts/wait_kind.h"
#include "model/session.h"

struct pt_thread_clock {
    /* The last reading; before the first one: when the thread was first seen. */
    pt_i64 at_ns;
    pt_u64 on_cpu_ns;
    pt_u32 waits, preemptions;
    bool is_begun, is_read, knows_switches; /* the last is of the last reading */
    /* Since then. */
    double in_calls_ns;
    pt_u32 execs;           /* that did not come back, so far */
    pt_u32 starts;          /* of those, after which the thread went on: its children's of vfork */
    pt_u32 may_have_waited; /* recorded calls that wait, and were long enough for that */
    /* Of all readings; the rest of the time between calls is unknown. */
    double computing_ns, preempted_ns;
    double starting_ns; /* it stood still until a child of vfork was another program */
    double between_ns;  /* the time between calls that these are of */
};

/* A call ended that is of a part of the account, and lasted `own_ns` without those in it. */
void pt_thread_clock_call(struct pt_thread_clock *clock, const struct pt_event *call, enum pt_time_part part,
                          pt_i64 own_ns);
/* Its children of vfork make their events in its place: exec began, or came back. */
void pt_thread_clock_exec(struct pt_thread_clock *clock, bool has_failed);
/* A thread_clock that is about the thread of the clock. */
void pt_thread_clock_read(struct pt_thread_clock *clock, pt_i64 thread_start_ns, const struct pt_event *reading);

#endif
