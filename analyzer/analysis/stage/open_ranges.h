/* SPDX-License-Identifier: MIT
 *
 * open_ranges.h - ranges that overlap others and may be closed by another thread, as long as they are open. Zeroed =
 * empty.
 */
#ifndef PT_ANALYSIS_STAGE_OPEN_RANGES_H
#define PT_ANALYSIS_STAGE_OPEN_RANGES_H

#include "model/session.h"
#include "util/vec.h"

enum { PT_MOST_OPEN_RANGES = 1 << 16 };

struct pt_open_range {
    const struct pt_process *process; /* NULL = it was closed */
    pt_u64 id;                        /* by which its process closes it */
    pt_u32 range;
    pt_u32 next; /* of those with the same hash, or that were closed: index + 1; 0 = none */
    pt_i64 start_ns;
};

struct pt_open_ranges {
    PT_VEC(struct pt_open_range);
    pt_u32 *first_of_hash; /* index + 1 */
    pt_u32 first_closed;   /* index + 1 */
    pt_i64 full_until_ns;  /* when the first of them ends with its process; 0 = there was room */
    pt_u64 not_followed;   /* there was none */
};

typedef void pt_show_open_range(void *context, const struct pt_open_range *open, pt_i64 end_ns);

/* Where there is no room, those of processes that have ended are shown and closed first: nobody else would. */
void pt_open_ranges_add(struct pt_open_ranges *all, const struct pt_open_range *open, pt_show_open_range *show,
                        void *context);
/* Closes the one that was opened last; false = there is none. */
bool pt_open_ranges_take(struct pt_open_ranges *all, const struct pt_process *process, pt_u64 id,
                         struct pt_open_range *ret_open);
/* Shows those that are left, with the ends of their processes. */
void pt_open_ranges_fini(struct pt_open_ranges *all, pt_show_open_range *show, void *context);

#endif
