/* SPDX-License-Identifier: MIT
 *
 * thinned.h - a value over time, thinned to what a timeline can show: of each bucket the highest point and the last
 * one.
 */
#ifndef PT_EXPORT_TIMELINE_THINNED_H
#define PT_EXPORT_TIMELINE_THINNED_H

#include <stdbool.h>

#include "proftrace/types.h"

struct pt_thinned {
    pt_i64 bucket_ns, bucket_end_ns;
    pt_i64 from_ns; /* of earlier points the last one is shown, here */
    pt_i64 peak_at_ns, last_at_ns;
    pt_u64 peak, last, shown, before;
    bool has_points, was_shown, has_before;
    void (*show)(void *context, pt_i64 at_ns, pt_u64 value);
    void *context;
};
void pt_thinned_add(struct pt_thinned *series, pt_i64 at_ns, pt_u64 value);
void pt_thinned_flush(struct pt_thinned *series);
/* There is none of it from then on. */
void pt_thinned_end(struct pt_thinned *series, pt_i64 at_ns);

#endif
