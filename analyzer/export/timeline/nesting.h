/* SPDX-License-Identifier: MIT
 *
 * nesting.h - the rule that viewers impose: on one track, slices nest or stand apart; they never overlap in part.
 *
 * Slices come in the order of their ends, children before parents. A track remembers what it shows at the top level. It
 * takes a slice, moved by the few nanoseconds of a rounding error, or refuses it.
 */
#ifndef PT_EXPORT_TIMELINE_NESTING_H
#define PT_EXPORT_TIMELINE_NESTING_H

#include <stdbool.h>
#include <stddef.h>

#include "proftrace/types.h"

/* Slices that a track remembers, those in the innermost open range first of all. A call that encloses more than half as
 * many is refused; ranges never are. */
#define PT_NESTING_SPANS 8192u

struct pt_nesting_span {
    pt_i64 start_ns, end_ns;
    pt_i64 children_end_ns;
};

/* A range of the program that has begun and not ended. */
struct pt_nesting_range {
    pt_i64 start_ns;
    pt_u64 name;                /* the caller's */
    size_t spans_before;        /* on the stack when it began */
    pt_i64 forgotten_before_ns; /* forgotten_until_ns when the range began */
};

struct pt_nesting {
    struct pt_nesting_span *spans;
    size_t n_spans, spans_capacity;
    pt_i64 forgotten_until_ns; /* spans before it are no longer known */
    struct pt_nesting_range *ranges;
    size_t n_ranges, ranges_capacity;
    pt_i64 from_ns, until_ns; /* what encloses everything on the track */
    /* Refuse a slice that encloses an earlier one and begins together with it (but not at from_ns): its beginning
     * would have to be written before that of the earlier one. */
    bool refuses_late_parents;
};

/* The track takes the slice, perhaps moved; or false: it overlaps another one by more than rounding. */
bool pt_nesting_place(struct pt_nesting *nesting, pt_i64 *start_ns, pt_i64 *end_ns);

void pt_nesting_range_begin(struct pt_nesting *nesting, pt_i64 start_ns, pt_u64 name);
/* Close the innermost range at *end_ns; its slice is placed. False when none is open. */
bool pt_nesting_range_end(struct pt_nesting *nesting, pt_i64 *end_ns, struct pt_nesting_range *ret_range);

void pt_nesting_free(struct pt_nesting *nesting);

#endif
