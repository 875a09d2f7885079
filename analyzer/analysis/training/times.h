/* SPDX-License-Identifier: MIT
 *
 * training/times.h - durations as a histogram that also knows what its buckets really hold: steps that all take as long
 * have that as their percentiles, not the middle of a bucket.
 */
#ifndef PT_ANALYSIS_TRAINING_TIMES_H
#define PT_ANALYSIS_TRAINING_TIMES_H

#include <stdbool.h>

#include "profile/histogram.h"

/* Zeroed = empty. */
struct pt_times {
    struct pt_histogram histogram;
    pt_u64 least[PT_HISTOGRAM_BUCKETS], most[PT_HISTOGRAM_BUCKETS]; /* of each bucket that is not empty */
};

void pt_times_add(struct pt_times *times, pt_i64 ns);
void pt_times_add_all(struct pt_times *to, const struct pt_times *from);
/* 0 when it is empty. */
pt_i64 pt_times_quantile(const struct pt_times *times, double quantile);
static inline double pt_times_quantile_s(const struct pt_times *times, double quantile)
{
    return (double)pt_times_quantile(times, quantile) / 1e9;
}

#endif
