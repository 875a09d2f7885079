/* SPDX-License-Identifier: MIT
 *
 * minutes.h - the rows of MINUTES segments: what one thread's totals grew by in an interval.
 */
#ifndef PT_SOURCE_MINUTES_H
#define PT_SOURCE_MINUTES_H

#include "util/str.h"
#include "trace_file.h"

struct pt_minutes_kind {
    pt_u32 row; /* as the file's schema numbers it */
    struct pt_totals totals;
};

struct pt_minutes_entry {
    pt_u64 first, n; /* minutes of CLOCK_MONOTONIC */
    pt_u64 sequence;
    bool has_counters; /* else kinds */
    pt_u64 allocs, bytes, frees;
    pt_u64 counted_calls[PT_COUNTED_ROWS], counted_bytes[PT_COUNTED_ROWS];
    pt_u32 n_kinds;
    struct pt_minutes_kind kinds[PT_TOTALS_ROWS];
};

/* The row as it lies in a file, appended. At most PT_MINUTES_ROW_BYTES: a few tens of kinds. */
void pt_minutes_append(struct pt_str *out, const struct pt_minutes_entry *entry);

/* Each row of a segment that is there and whole, in the order of the file. A damaged row ends the segment. */
void pt_minutes_for_each(const struct pt_trace_file *file, const struct pt_minutes_segment *segment,
                         void (*take)(void *context, const struct pt_minutes_entry *entry), void *context);

#endif
