/* SPDX-License-Identifier: MIT
 *
 * minutes.h - when a process's totals were what: from its totals by minute, and the events that those do not cover.
 */
#ifndef PT_MODEL_MINUTES_H
#define PT_MODEL_MINUTES_H

#include "session.h"

enum { PT_INTERVAL_OF_HEAP = PT_KIND__COUNT };

/* A part of the totals of one kind, and when it came: no more is known than that it was within these bounds. */
struct pt_interval {
    pt_i64 from_ns, until_ns;
    pt_u32 slot;
    bool is_row; /* of the totals by minute: the rest comes from events, and what is left */
    pt_u32 kind; /* PT_KIND_x; PT_INTERVAL_OF_HEAP: allocations as calls, releases as errors */
    struct pt_kind_totals totals;
};

/* Length of the intervals of a process; 0 = it has none. */
pt_i64 pt_process_minute_ns(const struct pt_process *process);

/* All totals of a process in such parts: their sum is what the process's totals are, whatever is damaged. */
void pt_process_intervals(const struct pt_process *process,
                          void (*take)(void *context, const struct pt_interval *interval), void *context);

/* The times between which events of a thread are missing (overwritten, dropped or damaged). */
void pt_process_gaps(const struct pt_process *process, void (*take)(void *context, pt_i64 from_ns, pt_i64 until_ns),
                     void *context);

#endif
