/* SPDX-License-Identifier: MIT
 *
 * Owns: nothing. Threads: any. Never: says a value that is outside of what its bucket holds.
 */
#include "times.h"

#include <math.h>
#include "util/whole.h"

static void widen(struct pt_times *times, pt_u32 bucket, pt_u64 least, pt_u64 most)
{
    const bool is_first = !times->histogram.buckets[bucket];
    if (is_first || least < times->least[bucket])
        times->least[bucket] = least;
    if (is_first || most > times->most[bucket])
        times->most[bucket] = most;
}

void pt_times_add(struct pt_times *times, pt_i64 ns)
{
    const pt_u64 value = ns > 0 ? (pt_u64)ns : 0;
    widen(times, pt_histogram_bucket(value), value, value);
    pt_histogram_add(&times->histogram, value);
}

void pt_times_add_all(struct pt_times *times, const struct pt_times *from)
{
    struct pt_histogram *to = &times->histogram;
    const struct pt_histogram *more = &from->histogram;
    if (!more->count)
        return;
    to->min = to->count && to->min < more->min ? to->min : more->min;
    to->max = to->max > more->max ? to->max : more->max;
    to->count += more->count;
    to->sum += more->sum;
    for (pt_u32 i = 0; i < PT_HISTOGRAM_BUCKETS; i++) {
        if (!more->buckets[i])
            continue;
        widen(times, i, from->least[i], from->most[i]);
        to->buckets[i] = more->buckets[i] > ~to->buckets[i] ? ~0u : to->buckets[i] + more->buckets[i];
    }
}

pt_i64 pt_times_quantile(const struct pt_times *times, double quantile)
{
    const double want = fmax(1, ceil(quantile * (double)times->histogram.count)); /* the number of the value, from 1 */
    double seen = 0;
    for (pt_u32 i = 0; i < PT_HISTOGRAM_BUCKETS; i++) {
        const double here = times->histogram.buckets[i];
        if (here && seen + here >= want) {
            const double width = (double)(times->most[i] - times->least[i]);
            return (pt_i64)(times->least[i] + pt_whole(here > 1 ? width * (want - seen - 1) / (here - 1) : 0));
        }
        seen += here;
    }
    return (pt_i64)times->histogram.max;
}
