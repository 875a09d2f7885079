/* SPDX-License-Identifier: MIT
 *
 * facts/off_cpu.h - why threads of a stage were off the CPU, and for how long.
 *
 * The launcher has the stacks of some of the times, and exact sums of all: within a class of length, those with a stack
 * share the time of the class. Why is what the hooks recorded: the innermost call that the thread was in. Of classes
 * without any stack only the sum is known: a call is a little longer than the wait in it, so the calls of a thread that
 * are of that class share the time, as far as they lasted that long.
 */
#ifndef PT_FACTS_OFF_CPU_H
#define PT_FACTS_OFF_CPU_H

#include "cpu_timeline.h"
#include "wait_kind.h"

struct pt_off_calls_thread {
    pt_u32 unsampled;     /* a bit for each class of which waits are known and no stack */
    pt_i64 last_start_ns; /* of the call that was counted last */
};

/* Recorded calls by the length of the waits that they may be. */
struct pt_off_calls {
    struct pt_off_calls_thread *threads; /* by number; NULL = nothing is needed */
    pt_u32 n_threads;
    struct pt_map ns; /* thread, class, part -> how long calls lasted */
};

/* `data` may be NULL. */
void pt_off_calls_open(struct pt_off_calls *calls, const struct pt_cpu_data *data);
void pt_off_calls_close(struct pt_off_calls *calls);
void pt_off_calls_add(struct pt_off_calls *calls, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns, pt_u32 part);
/* A thread was in a call; inner ones come before the one around them. Most threads have no class that needs it. */
static inline void pt_off_calls_call(struct pt_off_calls *calls, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns,
                                     pt_u32 part)
{
    if (calls->threads && thread < calls->n_threads && calls->threads[thread].unsampled)
        pt_off_calls_add(calls, thread, start_ns, end_ns, part);
}
/* Add a class's time to its parts; what no call explains is unattributed. */
void pt_off_calls_split(const struct pt_off_calls *calls, pt_u32 thread, pt_u32 class, pt_u64 all_ns,
                        double to_s[PT_PART__COUNT]);

enum { PT_OFF_CLASSES = PT_CPU_WAIT_CLASSES + 1 }; /* the last one: preempted */

/* How much of each class a thread was off the CPU, and how much of that has a stack. */
struct pt_off_weights {
    double all_ns[PT_OFF_CLASSES], sampled_ns[PT_OFF_CLASSES];
};
struct pt_off_weights pt_off_cpu_weigh(const struct pt_cpu_timeline *timeline, pt_u32 thread);
/* How much time a state with a stack represents, in seconds. */
double pt_off_cpu_s(const struct pt_off_weights *weights, const struct pt_cpu_state *state);
/* Adds the time without stacks to the parts that it probably is, unattributed = not known; returns it. */
double pt_off_cpu_unsampled_s(const struct pt_off_calls *calls, pt_u32 thread, const struct pt_off_weights *weights,
                              double to_s[PT_PART__COUNT]);

/* What it waited for: a part of the account. */
enum pt_time_part pt_off_cpu_part(const struct pt_cpu_state *state);
/* "Sleep", "File read", "Runnable" ... */
const char *pt_off_cpu_reason(const struct pt_cpu_state *state);
/* The same for time without a stack. */
const char *pt_off_cpu_unsampled_reason(enum pt_time_part part);

#endif
