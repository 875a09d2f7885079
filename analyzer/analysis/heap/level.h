/* SPDX-License-Identifier: MIT
 *
 * heap/level.h - how much is live over time: the peak, and whether the floor under the ups and downs keeps rising.
 */
#ifndef PT_ANALYSIS_HEAP_LEVEL_H
#define PT_ANALYSIS_HEAP_LEVEL_H

#include <stdbool.h>

#include "proftrace/types.h"

enum { PT_LEVEL_BUCKETS = 256 };

struct pt_heap_level {
    double live_bytes, peak_bytes;
    double variance, peak_variance; /* of the estimate; 0 in full mode */
    pt_i64 bucket_end_ns, bucket_ns;
    pt_u32 bucket;
    double floor_bytes[PT_LEVEL_BUCKETS]; /* least live in each bucket of the process's life */
};

void pt_heap_level_init(struct pt_heap_level *level, pt_i64 start_ns, pt_i64 end_ns);
void pt_heap_level_next_bucket(struct pt_heap_level *level, pt_i64 at_ns);

static inline void pt_heap_level_add(struct pt_heap_level *level, pt_i64 at_ns, double bytes, double variance)
{
    if (at_ns >= level->bucket_end_ns)
        pt_heap_level_next_bucket(level, at_ns);
    level->live_bytes += bytes;
    level->variance += variance;
    if (level->live_bytes > level->peak_bytes) {
        level->peak_bytes = level->live_bytes;
        level->peak_variance = level->variance;
    }
    if (level->live_bytes < level->floor_bytes[level->bucket])
        level->floor_bytes[level->bucket] = level->live_bytes;
}

/* A rise of the floor from one bucket to another. */
struct pt_heap_rise {
    pt_u32 from, to;
    double bytes;
    double fit; /* r squared: 1 = a straight line */
};

/* How far the rate of a rise may be from the truth, as a share of it: half of its 95 % interval, from eight parts of
 * it. */
double pt_heap_rise_spread(const double floor_bytes[PT_LEVEL_BUCKETS], const struct pt_heap_rise *rise);

/* The largest rise between any two buckets. */
double pt_heap_largest_rise(const double floor_bytes[PT_LEVEL_BUCKETS]);

/* The largest rise, from bucket `first` on, that memory which is never given back makes: it lasts for half of the
 * rest, goes on as a straight line through all of its quarters, and ends with the process or in a fall. What is filled
 * once and then used ends in a plateau. False = there is none. */
bool pt_heap_steady_rise(const double floor_bytes[PT_LEVEL_BUCKETS], pt_u32 first, struct pt_heap_rise *ret_rise);

#endif
