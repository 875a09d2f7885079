/* SPDX-License-Identifier: MIT
 *
 * Owns: unions of spans. Threads: one per struct. Never: allocates.
 */
#include "time_union.h"

#include <string.h>

static void forget_oldest(struct pt_time_union *sum)
{
    sum->n = PT_UNION_KEPT / 2;
    memmove(sum->kept, sum->kept + PT_UNION_KEPT - sum->n, sum->n * sizeof *sum->kept);
}

void pt_time_union_insert(struct pt_time_union *sum, pt_i64 start_ns, pt_i64 end_ns)
{
    pt_i64 added_ns = end_ns - start_ns;
    if (added_ns <= 0)
        return;
    if (sum->n == PT_UNION_KEPT)
        forget_oldest(sum);
    pt_u32 behind = sum->n; /* the first that lies wholly behind it: as a rule none */
    while (behind && sum->kept[behind - 1].start_ns > end_ns)
        behind--;
    pt_u32 first = behind; /* of those that it touches, which become one with it */
    while (first && sum->kept[first - 1].end_ns >= start_ns) {
        const pt_i64 from = sum->kept[first - 1].start_ns, to = sum->kept[first - 1].end_ns;
        added_ns -= (to < end_ns ? to : end_ns) - (from > start_ns ? from : start_ns);
        start_ns = from < start_ns ? from : start_ns;
        end_ns = to > end_ns ? to : end_ns;
        first--;
    }
    memmove(sum->kept + first + 1, sum->kept + behind, (sum->n - behind) * sizeof *sum->kept);
    sum->n = first + 1 + (sum->n - behind);
    sum->kept[first].start_ns = start_ns;
    sum->kept[first].end_ns = end_ns;
    sum->total_ns += added_ns;
}
