/* SPDX-License-Identifier: MIT
 *
 * gpu/levels.h - how much was in use of a device's memory, and of its pools, when.
 */
#ifndef PT_ANALYSIS_GPU_LEVELS_H
#define PT_ANALYSIS_GPU_LEVELS_H

#include "state.h"

enum {
    PT_GPU_MEMORY_BUCKETS = 120, /* of the life of a stage */
    PT_GPU_MOST_POOLS = 1024,
};

/* How much of a device's memory is in use, of all kinds and processes. */
struct pt_gpu_level {
    pt_u32 device; /* index; a device is of one stage */
    pt_i64 level_bytes, lowest_bytes, peak_bytes, peak_ns;
    pt_i64 start_ns, bucket_ns;
    pt_i64 pools_bytes, pools_used_bytes;
    pt_u32 unsure_pools;
    pt_i64 pools_ns; /* since when that is so */
    pt_u32 bucket;
    struct pt_gpu_level_bucket {
        pt_i64 highest_bytes, pools_bytes, pools_used_bytes; /* the most at once */
        bool is_unsure;                                      /* how large the pools were, for a while */
        pt_u64 allocations, releases, allocated_bytes, released_bytes;
    } buckets[PT_GPU_MEMORY_BUCKETS];
};

struct pt_gpu_pool {
    pt_u32 device;
    const struct pt_process *process;
    const char *name; /* its address */
    pt_u64 allocations, releases, allocated_bytes, trims;
    pt_i64 level_bytes, peak_bytes;
    bool has_size, is_over;
    pt_u64 size_bytes, used_bytes; /* the most that CUPTI reported */
    struct pt_gpu_pool_now {       /* as it is counted in the level of its device */
        pt_i64 bytes, used_bytes;
        bool is_unsure;
    } now;
};

struct pt_gpu_levels {
    struct {
        PT_VEC(struct pt_gpu_level *);
    } levels;
    struct {
        PT_VEC(struct pt_gpu_pool);
    } pools;
    struct pt_map by_device, by_pool;
};

/* Of a device; index + 1 goes to `ret_index`. */
struct pt_gpu_level *pt_gpu_level_of(struct pt_gpu *gpu, pt_u32 device, pt_u32 *ret_index);
/* The bucket of the stage's time that an instant is in. */
struct pt_gpu_level_bucket *pt_gpu_level_bucket(struct pt_gpu_level *level, pt_i64 at_ns);
/* More or less of it. */
struct pt_gpu_level_bucket *pt_gpu_level_change(struct pt_gpu_level *level, pt_i64 at_ns, pt_i64 bytes);
/* The largest use of a device's memory at one time, in bytes; 0 = nothing was recorded. */
double pt_gpu_level_peak(const struct pt_gpu *gpu, pt_u32 device);

/* Allocations of a device's own memory in later parts of the stage than the first one that had more than `bytes` in
 * use, in each of which there was that much again. */
pt_u64 pt_gpu_level_allocations_above(const struct pt_gpu *gpu, pt_u32 device, double bytes);

void pt_gpu_levels_end(struct pt_gpu *gpu);
void pt_gpu_levels_free(struct pt_gpu *gpu);

/* ---- pools ---- */

/* NULL = of none, or there are too many. */
struct pt_gpu_pool *pt_gpu_pool_of(struct pt_gpu *gpu, const struct pt_process *process, const char *name,
                                   pt_u32 device);
void pt_gpu_pool_use(struct pt_gpu *gpu, struct pt_gpu_pool *pool, pt_i64 at_ns, pt_u64 bytes, bool is_release);
void pt_gpu_pool_size_event(struct pt_gpu *gpu, struct pt_gpu_pool *pool, const struct pt_event *event);
/* The process has ended. */
void pt_gpu_pool_end(struct pt_gpu_levels *own, struct pt_gpu_pool *pool);

/* A damaged record may have any size. */
static inline void pt_gpu_add_bytes(pt_i64 *sum, pt_i64 bytes)
{
    if (__builtin_add_overflow(*sum, bytes, sum))
        *sum = bytes > 0 ? INT64_MAX : -INT64_MAX;
    *sum = *sum < -INT64_MAX ? -INT64_MAX : *sum;
}

#endif
