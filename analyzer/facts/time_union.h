/* SPDX-License-Identifier: MIT
 *
 * time_union.h - how long at least one of many spans lasted: what several threads wait for at once can be gained once.
 *
 * Spans are added about in the order of their ends, as feeds deliver them. Bounded: a span that reaches further back
 * than the last PT_UNION_KEPT / 2 gaps may count some of it twice, so the length is never too small. Zeroed = empty.
 */
#ifndef PT_FACTS_TIME_UNION_H
#define PT_FACTS_TIME_UNION_H

#include "proftrace/types.h"

enum { PT_UNION_KEPT = 64 };

struct pt_time_union {
    struct {
        pt_i64 start_ns, end_ns;
    } kept[PT_UNION_KEPT]; /* without overlap, in the order of time */
    pt_u32 n;
    pt_i64 total_ns;
};

/* Where it neither goes on with the last one nor follows it. */
void pt_time_union_insert(struct pt_time_union *sum, pt_i64 start_ns, pt_i64 end_ns);

static inline void pt_time_union_add(struct pt_time_union *sum, pt_i64 start_ns, pt_i64 end_ns)
{
    const pt_u32 n = sum->n;
    if (n && start_ns <= sum->kept[n - 1].end_ns && start_ns >= sum->kept[n - 1].start_ns && end_ns > start_ns) {
        const pt_i64 more_ns = end_ns - sum->kept[n - 1].end_ns;
        sum->kept[n - 1].end_ns += more_ns > 0 ? more_ns : 0;
        sum->total_ns += more_ns > 0 ? more_ns : 0;
    } else if (n && n < PT_UNION_KEPT && start_ns > sum->kept[n - 1].end_ns && end_ns > start_ns) {
        sum->kept[n].start_ns = start_ns;
        sum->kept[n].end_ns = end_ns;
        sum->n = n + 1;
        sum->total_ns += end_ns - start_ns;
    } else {
        pt_time_union_insert(sum, start_ns, end_ns);
    }
}

/* How long two spans last at once. */
static inline pt_i64 pt_common_ns(pt_i64 a_start_ns, pt_i64 a_end_ns, pt_i64 b_start_ns, pt_i64 b_end_ns)
{
    const pt_i64 start_ns = a_start_ns > b_start_ns ? a_start_ns : b_start_ns;
    const pt_i64 end_ns = a_end_ns < b_end_ns ? a_end_ns : b_end_ns;
    return end_ns > start_ns ? end_ns - start_ns : 0;
}

#endif
