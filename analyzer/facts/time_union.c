/* SPDX-License-Identifier: MIT
 *
 * Owns: unions of spans. Threads: one per struct. Never: allocates.
 */
#include "time_union.h"

#include <string.h>

void pt_time_union_add(struct pt_time_union *sum, pt_i64 start_ns, pt_i64 end_ns)
{
    pt_i64 added_ns = end_ns - start_ns;
    if (added_ns <= 0)
        return;
    while (sum->n && sum->kept[sum->n - 1].end_ns >= start_ns) {
        const pt_i64 from = sum->kept[sum->n - 1].start_ns, to = sum->kept[sum->n - 1].end_ns;
        added_ns -= (to < end_ns ? to : end_ns) - (from > start_ns ? from : start_ns);
        start_ns = from < start_ns ? from : start_ns;
        end_ns = to > end_ns ? to : end_ns;
        sum->n--;
    }
    if (sum->n == PT_UNION_KEPT) {
        sum->n = PT_UNION_KEPT / 2;
        memmove(sum->kept, sum->kept + PT_UNION_KEPT - sum->n, sum->n * sizeof *sum->kept);
    }
    sum->kept[sum->n].start_ns = start_ns;
    sum->kept[sum->n++].end_ns = end_ns;
    sum->total_ns += added_ns > 0 ? added_ns : 0;
}
