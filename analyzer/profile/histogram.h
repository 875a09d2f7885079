/* SPDX-License-Identifier: MIT
 *
 * histogram.h - counts of values in logarithmic buckets.
 *
 * Eight buckets per power of two: a quantile is off by at most 6 %. Values below 8 have a bucket of their own. Zeroed
 * memory is an empty histogram. No percentile is ever stored: it is computed when it is shown.
 */
#ifndef PT_PROFILE_HISTOGRAM_H
#define PT_PROFILE_HISTOGRAM_H

#include "proftrace/types.h"

#define PT_HISTOGRAM_STEPS_LOG2 3u
#define PT_HISTOGRAM_BUCKETS ((64u - PT_HISTOGRAM_STEPS_LOG2 + 1u) << PT_HISTOGRAM_STEPS_LOG2)

struct pt_histogram {
    pt_u64 count;
    pt_u64 sum;
    pt_u64 min, max; /* of what was added; 0 when empty */
    pt_u32 buckets[PT_HISTOGRAM_BUCKETS];
};

static inline pt_u32 pt_histogram_bucket(pt_u64 value)
{
    if (value < (1u << PT_HISTOGRAM_STEPS_LOG2))
        return (pt_u32)value;
    const pt_u32 shift = 63u - (pt_u32)__builtin_clzll(value) - PT_HISTOGRAM_STEPS_LOG2;
    return ((shift + 1) << PT_HISTOGRAM_STEPS_LOG2) +
           (pt_u32)((value >> shift) & ((1u << PT_HISTOGRAM_STEPS_LOG2) - 1));
}

/* Smallest value of a bucket. */
pt_u64 pt_histogram_bucket_low(pt_u32 bucket);

static inline void pt_histogram_add(struct pt_histogram *histogram, pt_u64 value)
{
    pt_u32 *bucket = &histogram->buckets[pt_histogram_bucket(value)];
    *bucket += *bucket != ~0u; /* saturates: four thousand million equal values shift a percentile by nothing */
    if (!histogram->count || value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->sum += value;
}

/* The value below which `quantile` (0..1) of all values lie, within the bucket's width and never outside [min, max]; 0
 * when the histogram is empty. */
pt_u64 pt_histogram_quantile(const struct pt_histogram *histogram, double quantile);

#endif
