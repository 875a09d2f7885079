/* SPDX-License-Identifier: MIT
 *
 * facts/cpu_timeline.h - what the threads of a stage did with the CPUs over time, from the launcher's CPU profile: when
 * one was seen running, was preempted, waited for a page or for something else; and in which recorded call that was.
 *
 * The kernel's times and those of calls are of one clock, CLOCK_MONOTONIC, where the root process noted it.
 */
#ifndef PT_FACTS_CPU_TIMELINE_H
#define PT_FACTS_CPU_TIMELINE_H

#include "cpu_file/cpu_data.h"
#include "profile/profile.h"
#include "util/map.h"
#include "cpu_names.h"

enum {
    PT_CPU_RAN = 1,       /* a sample: an instant on the CPU */
    PT_CPU_PREEMPTED = 2, /* off the CPU, though it could have run on */
    PT_CPU_FAULT = 4,     /* off the CPU until a page was there */
    PT_CPU_HAS_STACK = 8, /* `node` is valid; most waits have no stack */
    PT_CPU_IS_EXACT = 16, /* all times of this kind are recorded; of others only some */
};

struct pt_cpu_state {
    pt_i64 start_ns, end_ns; /* of the run */
    pt_u32 node;
    pt_u8 flags;
    pt_u8 part; /* of the innermost recorded call that it lies in, plus 1; 0 = in none */
};

struct pt_cpu_timeline {
    struct pt_cpu_data *data;    /* NULL = the stage has no profile */
    pt_i64 shift_ns;             /* from the profile's times to those of the run */
    struct pt_cpu_state *states; /* by thread, then time */
    size_t *first;               /* by thread: its first state; one more at the end */
    struct pt_cpu_cursor {
        size_t next;                                /* the first state behind all calls so far */
        pt_i64 no_state_from_ns, no_state_until_ns; /* no state begins or ends between: most calls lie within */
    } * cursors;                                    /* by thread */
    struct pt_map by_tid;                           /* -> the last thread of this tid */
    pt_u32 *before;                                 /* by thread: the one that had its tid before; 0 = none */
};

/* Takes `data` over; it may be NULL. `root`: of the stage; NULL = none was traced. */
void pt_cpu_timeline_open(struct pt_cpu_timeline *timeline, struct pt_cpu_data *data, const struct pt_session *session,
                          const struct pt_process *root);
void pt_cpu_timeline_close(struct pt_cpu_timeline *timeline);

/* The number in the profile of a thread of the trace; 0 = it is not there. */
pt_u32 pt_cpu_timeline_thread(const struct pt_cpu_timeline *timeline, const struct pt_thread *thread);

/* The thread was in a call: its states there that are in no earlier call are marked. Returns for how long of that it
 * was preempted. Calls of a thread come in the order of their ends, an inner one before the one around it. */
pt_i64 pt_cpu_timeline_call(struct pt_cpu_timeline *timeline, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns,
                            pt_u32 part);

/* The states of a thread that begin in [from, until], or reach into it. */
size_t pt_cpu_states(const struct pt_cpu_timeline *timeline, pt_u32 thread, pt_i64 from_ns, pt_i64 until_ns,
                     const struct pt_cpu_state **ret_first);

/* What a thread did between two times; samples: those outside of calls. */
struct pt_cpu_between {
    double preempted_ns, fault_ns;
    double python, native; /* samples */
};
struct pt_cpu_between pt_cpu_between(const struct pt_cpu_timeline *timeline, const struct pt_cpu_view *view,
                                     pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns);

/* The same of all of its life, when all calls were seen. */
struct pt_cpu_life {
    double preempted_ns;
    double
        fault_ns; /* outside of calls, including those that were not kept one by one; NAN = the profile has no faults */
    double python, samples; /* outside of calls */
};
struct pt_cpu_life pt_cpu_life(const struct pt_cpu_timeline *timeline, const struct pt_cpu_view *view, pt_u32 thread);

/* Waits of which nothing is known but the sum of those of their length: the kernel has no room for all that it could
 * say when pages are missed in a row. Those with stacks are chosen by chance, and stand for them. By class of length.
 */
struct pt_cpu_unrecorded {
    double all_ns[PT_CPU_WAIT_CLASSES];
    double fault_ns[PT_CPU_WAIT_CLASSES];            /* of that, for pages, outside of calls */
    double with_stack_ns[PT_CPU_WAIT_CLASSES];       /* of what is recorded: those that stand for the others */
    double fault_with_stack_ns[PT_CPU_WAIT_CLASSES]; /* and those that do for the ones for pages */
};
void pt_cpu_unrecorded(const struct pt_cpu_timeline *timeline, pt_u32 thread, struct pt_cpu_unrecorded *ret_unrecorded);

/* The kernel's records count the time in a run queue after a wake-up as waiting; only schedstat has it, up to when
 * it was read last. */
static inline pt_u64 pt_cpu_runnable_ns(const struct pt_cpu_times *times)
{
    const bool has_delay = times->flags & PT_CPU_THREAD_HAS_DELAY;
    return has_delay && times->run_delay_ns > times->preempted_ns ? times->run_delay_ns : times->preempted_ns;
}

#endif
