/* SPDX-License-Identifier: MIT
 *
 * gpu/memory.h - memory of GPUs: how much of which kind, and what processes leave when they end.
 */
#ifndef PT_ANALYSIS_GPU_MEMORY_H
#define PT_ANALYSIS_GPU_MEMORY_H

#include "facts/block_map.h"
#include "state.h"

enum { PT_GPU_MOST_HOLDINGS = 4096 }; /* processes times places */

/* A kind of memory of a device, or a pool. */
struct pt_gpu_memory {
    pt_u32 stage;
    const char *place;
    pt_u64 allocations, releases, allocated_bytes, peak_bytes;
    pt_i64 level_bytes, peak_ns;
    pt_i64 left_bytes; /* that processes had not released when they ended */
};

/* What a process has allocated in a place: the driver frees it when the process ends. */
struct pt_gpu_holding {
    const struct pt_process *process;
    pt_u32 memory, level, pool; /* level, pool: index + 1; 0 = not of the device's own memory, of no pool */
    pt_i64 bytes;
    bool is_over;
};

struct pt_gpu_memories {
    struct {
        PT_VEC(struct pt_gpu_memory);
    } places;
    struct {
        PT_VEC(struct pt_gpu_holding);
    } holdings;
    struct pt_map by_place, by_holding;
    pt_i64 next_end_ns; /* when the first process that has memory ends */
    struct pt_block_room room;
    struct pt_block_map blocks; /* by process and address: what wrappers saw being allocated */
};

void pt_gpu_memory_event(struct pt_gpu *gpu, const struct pt_event *event);
/* An allocation or release that a wrapper saw; its device is not known. */
void pt_gpu_memory_wrapped(struct pt_gpu *gpu, const struct pt_event *event);
void pt_gpu_memory_end(struct pt_gpu *gpu);
void pt_gpu_memory_free(struct pt_gpu *gpu);
#endif
