/* SPDX-License-Identifier: MIT
 *
 * Owns: peak and rises of live bytes. Threads: one per level. Never: allocates.
 */
#include "level.h"

#include <math.h>

enum { LONGEST_PLATEAU = 4 }; /* after the rise, which is so many times as long */
#define LEAST_FIT 0.95
#define LEAST_QUARTER 0.15 /* of the rise */

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

double pt_heap_largest_rise(const double floor_bytes[PT_LEVEL_BUCKETS])
{
    double least = floor_bytes[0], most = 0;
    for (int i = 1; i < PT_LEVEL_BUCKETS; i++) {
        least = floor_bytes[i] < least ? floor_bytes[i] : least;
        most = floor_bytes[i] - least > most ? floor_bytes[i] - least : most;
    }
    return most;
}

static bool is_even(const double *floor_bytes, pt_u32 from, pt_u32 to)
{
    const double least = LEAST_QUARTER * (floor_bytes[to] - floor_bytes[from]);
    for (pt_u32 i = 0; i < 4; i++)
        if (floor_bytes[from + (to - from) * (i + 1) / 4] - floor_bytes[from + (to - from) * i / 4] < least)
            return false;
    return true;
}

/* Given back soon after the rise, at the latest by the end of the process. */
static bool ends_in_fall(const double *floor_bytes, pt_u32 from, pt_u32 to)
{
    const double half = (floor_bytes[from] + floor_bytes[to]) / 2;
    pt_u32 end = to + 1;
    while (end < PT_LEVEL_BUCKETS && floor_bytes[end] > half)
        end++;
    return (end - to - 1) * LONGEST_PLATEAU <= to - from;
}

/* A machine that was busy for a moment bends the line near its ends: what was taken there belongs to the rise, too. */
static void take_all(const double *floor_bytes, pt_u32 first, struct pt_heap_rise *rise)
{
    const pt_u32 near = (rise->to - rise->from) / LONGEST_PLATEAU, from = rise->from, to = rise->to;
    for (pt_u32 i = from; i > first && from - i < near; i--)
        rise->from = floor_bytes[i - 1] < floor_bytes[rise->from] ? i - 1 : rise->from;
    for (pt_u32 i = to + 1; i < PT_LEVEL_BUCKETS && i - to <= near; i++)
        rise->to = floor_bytes[i] > floor_bytes[rise->to] ? i : rise->to;
    rise->bytes = floor_bytes[rise->to] - floor_bytes[rise->from];
}

/* Sums for a line through points whose x are 0, 1, 2 ... */
struct line {
    double n, y, xy, yy;
};

static double fit_of(const struct line *line)
{
    const double n = line->n, mean_x = (n - 1) / 2, mean_y = line->y / n;
    const double xx = n * (n * n - 1) / 12, xy = line->xy - n * mean_x * mean_y, yy = line->yy - n * mean_y * mean_y;
    return yy > 0 && xy > 0 ? xy * xy / (xx * yy) : 0;
}

double pt_heap_rise_spread(const double floor_bytes[PT_LEVEL_BUCKETS], const struct pt_heap_rise *rise)
{
    enum { PARTS = 8 };
    const double students_t = 2.365; /* 95 %, 7 degrees of freedom */
    const double mean = rise->bytes / PARTS, n_buckets = (double)(rise->to - rise->from);
    double squares = 0;
    for (pt_u32 i = 0; i < PARTS; i++) {
        const pt_u32 begin = rise->from + (rise->to - rise->from) * i / PARTS;
        const pt_u32 end = rise->from + (rise->to - rise->from) * (i + 1) / PARTS;
        const double even = rise->bytes * (double)(end - begin) / n_buckets; /* parts differ by a bucket */
        const double off = floor_bytes[end] - floor_bytes[begin] - even;
        squares += off * off;
    }
    return mean > 0 ? students_t * sqrt(squares / (PARTS - 1) / PARTS) / mean : 0;
}

bool pt_heap_steady_rise(const double floor_bytes[PT_LEVEL_BUCKETS], pt_u32 first, struct pt_heap_rise *ret_rise)
{
    const pt_u32 half = (PT_LEVEL_BUCKETS - first) / 2, least = half > 8 ? half : 8;
    struct pt_heap_rise best = {0};
    *ret_rise = best;
    if (pt_heap_largest_rise(floor_bytes) <= 0)
        return false; /* as that of each of a hundred thousand processes without an event of the heap */
    for (pt_u32 from = first; from + least < PT_LEVEL_BUCKETS; from++) {
        struct line line = {0};
        for (pt_u32 to = from; to < PT_LEVEL_BUCKETS; to++) {
            const double y = floor_bytes[to] - floor_bytes[from];
            line.xy += line.n * y;
            line.y += y;
            line.yy += y * y;
            line.n++;
            if (y <= best.bytes || to - from < least || !is_even(floor_bytes, from, to) ||
                !ends_in_fall(floor_bytes, from, to))
                continue;
            const double fit = fit_of(&line);
            if (fit >= LEAST_FIT)
                best = (struct pt_heap_rise){from, to, y, fit};
        }
    }
    if (best.bytes > 0)
        take_all(floor_bytes, first, &best);
    *ret_rise = best;
    return best.bytes > 0;
}
