/* SPDX-License-Identifier: MIT
 *
 * Owns: peak and trend of live bytes. Threads: one per level. Never: allocates.
 */
#include "level.h"

void pt_heap_level_init(struct pt_heap_level *level, pt_i64 start_ns, pt_i64 end_ns)
{
    const pt_i64 life_ns = end_ns > start_ns ? end_ns - start_ns : 1;
    *level = (struct pt_heap_level){.bucket_ns = life_ns / PT_LEVEL_BUCKETS + 1};
    level->bucket_end_ns = start_ns + level->bucket_ns;
}

void pt_heap_level_next_bucket(struct pt_heap_level *level, pt_i64 at_ns)
{
    while (at_ns >= level->bucket_end_ns && level->bucket + 1 < PT_LEVEL_BUCKETS) {
        level->floor_bytes[++level->bucket] = level->live_bytes;
        level->bucket_end_ns += level->bucket_ns;
    }
    if (level->bucket + 1 == PT_LEVEL_BUCKETS)
        level->bucket_end_ns = INT64_MAX;
}

struct pt_heap_trend pt_heap_level_trend(struct pt_heap_level *level, pt_i64 end_ns)
{
    /* The last bucket is left out: many programs release everything on their way out. */
    const int first = PT_LEVEL_BUCKETS / 3, n = PT_LEVEL_BUCKETS - 1 - first;
    pt_heap_level_next_bucket(level, end_ns);
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
    for (int i = 0; i < n; i++) {
        mean_x += i / (double)n;
        mean_y += level->floor_bytes[first + i] / n;
    }
    for (int i = 0; i < n; i++) {
        const double x = i - mean_x, y = level->floor_bytes[first + i] - mean_y;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    if (yy <= 0)
        return (struct pt_heap_trend){0};
    return (struct pt_heap_trend){.growth_bytes = xy / xx * (n - 1), .fit = xy * xy / (xx * yy)};
}
