/* SPDX-License-Identifier: MIT
 *
 * off_cpu_calls.h - what threads waited for when no stack was taken: recorded calls that lasted as long.
 *
 * Of such waits only the sum is known, by thread and class of length. A call is a little longer than the wait in it; so
 * the calls of a thread that are of that class share the time, as far as they lasted that long.
 */
#ifndef PT_ANALYSIS_CPU_OFF_CPU_CALLS_H
#define PT_ANALYSIS_CPU_OFF_CPU_CALLS_H

#include "cpu_file/cpu_data.h"
#include "facts/wait_kind.h"
#include "util/map.h"

struct pt_off_calls_thread {
    pt_u32 unsampled;     /* a bit for each class of which waits are known and no stack */
    pt_i64 last_start_ns; /* of the call that was counted last */
};

struct pt_off_calls {
    struct pt_off_calls_thread *threads; /* by number; NULL = nothing is asked for */
    pt_u32 n_threads;
    struct pt_map ns; /* thread, class, part -> how long calls lasted */
};

/* `data` may be NULL. */
void pt_off_calls_open(struct pt_off_calls *calls, const struct pt_cpu_data *data);
void pt_off_calls_close(struct pt_off_calls *calls);
/* Spans of a thread, those that others contain before these. */
void pt_off_calls_event(struct pt_off_calls *calls, pt_u32 thread, const struct pt_event *event);
/* Will no call of this thread ever be asked for? */
static inline bool pt_off_calls_are_quiet(const struct pt_off_calls *calls, pt_u32 thread)
{
    return !calls->threads || thread >= calls->n_threads || !calls->threads[thread].unsampled;
}
/* Add a class's time to its parts; what no call explains is unattributed. */
void pt_off_calls_split(const struct pt_off_calls *calls, pt_u32 thread, pt_u32 class, pt_u64 all_ns,
                        double to_s[PT_PART__COUNT]);

#endif
