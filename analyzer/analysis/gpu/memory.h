/* SPDX-License-Identifier: MIT
 *
 * gpu/memory.h - memory of GPUs, its pools, and how much was in use when, for gpu*.c only.
 */
#ifndef PT_ANALYSIS_GPU_MEMORY_H
#define PT_ANALYSIS_GPU_MEMORY_H

#include "facts/block_map.h"
#include "gpu.h"

enum {
    GPU_MEMORY_BUCKETS = 120, /* of the life of a stage */
    GPU_MOST_HOLDINGS = 4096, /* processes times places */
    GPU_MOST_POOLS = 1024,
};

/* A kind of memory of a device, or a pool. */
struct gpu_memory {
    pt_u32 stage;
    const char *place;
    pt_u64 allocations, releases, allocated_bytes, peak_bytes;
    pt_i64 level_bytes, peak_ns;
    pt_i64 left_bytes; /* that processes had not released when they ended */
};

/* What lies in the memory of a device, of whatever kind and process. */
struct gpu_level {
    pt_u32 device; /* index; a device is of one stage */
    pt_i64 level_bytes, lowest_bytes, peak_bytes, peak_ns;
    pt_i64 start_ns, bucket_ns;
    pt_i64 pools_bytes, pools_used_bytes;
    pt_u32 unsure_pools;
    pt_i64 pools_ns; /* since when that is so */
    pt_u32 bucket;
    struct gpu_level_bucket {
        pt_i64 highest_bytes, pools_bytes, pools_used_bytes; /* the most at once */
        bool is_unsure;                                      /* how large the pools were, for a while */
        pt_u64 allocations, releases, allocated_bytes, released_bytes;
    } buckets[GPU_MEMORY_BUCKETS];
};

struct gpu_pool {
    pt_u32 device;
    const struct pt_process *process;
    const char *name; /* its address */
    pt_u64 allocations, releases, allocated_bytes, trims;
    pt_i64 level_bytes, peak_bytes;
    bool is_told, is_over;
    pt_u64 size_bytes, used_bytes; /* the most that CUPTI told of it */
    struct gpu_pool_now {          /* as it is counted in the level of its device */
        pt_i64 bytes, used_bytes;
        bool is_unsure;
    } now;
};

/* What a process has of a place: the driver takes it back when the process ends. */
struct gpu_holding {
    const struct pt_process *process;
    pt_u32 memory, level, pool; /* level, pool: index + 1; 0 = not of the device's own memory, of no pool */
    pt_i64 bytes;
    bool is_over;
};

struct gpu_memories {
    struct {
        PT_VEC(struct gpu_memory);
    } places;
    struct {
        PT_VEC(struct gpu_level *);
    } levels;
    struct {
        PT_VEC(struct gpu_pool);
    } pools;
    struct {
        PT_VEC(struct gpu_holding);
    } holdings;
    struct pt_map by_place, by_device, by_pool, by_holding;
    pt_i64 next_end_ns; /* when the first process that has memory ends */
    struct pt_block_room room;
    struct pt_block_map blocks; /* by process and address: what wrappers saw being allocated */
};

void gpu_memory_event(struct gpu *gpu, const struct pt_event *event);
/* An allocation or release that a wrapper saw: of which device nobody knows. */
void gpu_memory_wrapped(struct gpu *gpu, const struct pt_event *event);
void gpu_memory_end(struct gpu *gpu);
/* Of a device; index + 1 goes to `ret_index`. */
struct gpu_level *gpu_memory_level(struct gpu *gpu, pt_u32 device, pt_u32 *ret_index);
/* The part of the stage that an instant is in. */
struct gpu_level_bucket *gpu_memory_bucket(struct gpu_level *level, pt_i64 at_ns);
void gpu_memory_free(struct gpu *gpu);
/* The most that lay in the memory of a device at once, in bytes; 0 = nothing was seen. */
double gpu_memory_peak(const struct gpu *gpu, pt_u32 device);

/* gpu/pools.c: NULL = of none, or there are too many. */
struct gpu_pool *gpu_pool_of(struct gpu *gpu, const struct pt_process *process, const char *name, pt_u32 device);
void gpu_pool_use(struct gpu *gpu, struct gpu_pool *pool, pt_i64 at_ns, pt_u64 bytes, bool is_release);
void gpu_pool_told(struct gpu *gpu, struct gpu_pool *pool, const struct pt_event *event);
/* The process has ended. */
void gpu_pool_end(struct gpu_memories *own, struct gpu_pool *pool);

/* A damaged record may hold any size. */
static inline void gpu_add_bytes(pt_i64 *sum, pt_i64 bytes)
{
    if (__builtin_add_overflow(*sum, bytes, sum))
        *sum = bytes > 0 ? INT64_MAX : -INT64_MAX;
    *sum = *sum < -INT64_MAX ? -INT64_MAX : *sum;
}

/* gpu/tables_memory.c */
void gpu_memory_tables(struct gpu *gpu, pt_u32 stage);

#endif
