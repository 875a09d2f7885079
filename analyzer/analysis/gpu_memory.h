/* SPDX-License-Identifier: MIT
 *
 * gpu_memory.h - memory of GPUs, its pools, and how much was in use when, for gpu*.c only.
 */
#ifndef PT_ANALYSIS_GPU_MEMORY_H
#define PT_ANALYSIS_GPU_MEMORY_H

#include "block_map.h"
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
    pt_u32 bucket;
    struct gpu_level_bucket {
        pt_i64 highest_bytes;
        pt_u64 allocations, releases, allocated_bytes, released_bytes;
    } buckets[GPU_MEMORY_BUCKETS];
};

struct gpu_pool {
    pt_u32 device;
    const struct pt_process *process;
    const char *name; /* its address */
    pt_u64 allocations, releases, allocated_bytes, trims;
    pt_i64 level_bytes, peak_bytes;
    bool is_told;
    pt_u64 size_bytes, used_bytes; /* the most that CUPTI told of it */
};

/* What a process has of a place: the driver takes it back when the process ends. */
struct gpu_holding {
    const struct pt_process *process;
    pt_u32 memory, level; /* level: index + 1; 0 = not of the device's own memory */
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
void gpu_memory_free(struct gpu *gpu);
/* The most that lay in the memory of a device at once, in bytes; 0 = nothing was seen. */
double gpu_memory_peak(const struct gpu *gpu, pt_u32 device);

/* gpu_tables_memory.c */
void gpu_memory_tables(struct gpu *gpu, pt_u32 stage);

#endif
