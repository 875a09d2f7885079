/* SPDX-License-Identifier: MIT
 *
 * histogram.c - Owns: bounds and quantiles of log-bucket histograms. Threads: any, on separate histograms. Never:
 * allocates.
 */
#include "histogram.h"
#include "util/whole.h"

pt_u64 pt_histogram_bucket_low(pt_u32 bucket)
{
    if (bucket < (1u << PT_HISTOGRAM_STEPS_LOG2))
        return bucket;
    const pt_u32 shift = (bucket >> PT_HISTOGRAM_STEPS_LOG2) - 1;
    const pt_u64 step = bucket & ((1u << PT_HISTOGRAM_STEPS_LOG2) - 1);
    return ((1ull << PT_HISTOGRAM_STEPS_LOG2) + step) << shift;
}

pt_u64 pt_histogram_quantile(const struct pt_histogram *histogram, double quantile)
{
    if (!histogram->count)
        return 0;
    if (quantile >= 1)
        return histogram->max;
    const double want = quantile <= 0 ? 0 : quantile * (double)histogram->count;
    double seen = 0;
    for (pt_u32 i = 0; i < PT_HISTOGRAM_BUCKETS; i++) {
        const double here = histogram->buckets[i];
        if (!here || seen + here < want) {
            seen += here;
            continue;
        }
        const pt_u64 low = pt_histogram_bucket_low(i);
        const pt_u64 width = i + 1 < PT_HISTOGRAM_BUCKETS ? pt_histogram_bucket_low(i + 1) - low : 0;
        const pt_u64 value = low + pt_whole((double)width * (want - seen) / here);
        return value < histogram->min ? histogram->min : value > histogram->max ? histogram->max : value;
    }
    return histogram->max;
}
