/* SPDX-License-Identifier: MIT
 *
 * gpu_names.h - names of GPU work in timelines: those of PyTorch's profiler, which other tools expect.
 */
#ifndef PT_EXPORT_TIMELINE_GPU_NAMES_H
#define PT_EXPORT_TIMELINE_GPU_NAMES_H

#include <stdbool.h>

#include "model/session.h"
#include "util/map.h"

#define PT_GPU_NAME_BYTES 64

/* "Memcpy HtoD (Pageable -> Device)" from a gpu_copy's tag, "Memset (Device)" from a gpu_set's. */
void pt_gpu_copy_name(char name[PT_GPU_NAME_BYTES], pt_u32 kinds);
void pt_gpu_set_name(char name[PT_GPU_NAME_BYTES], pt_u32 kinds);
/* "Stream Sync", "Event Sync", "Context Sync", "Stream Wait Event". */
const char *pt_gpu_sync_name(pt_i32 kind);
const char *pt_gpu_overhead_name(pt_i32 kind);
/* A kernel as people write it; templates make it long. Known ones are in the map, by string id. */
const char *pt_gpu_kernel_name(struct pt_map *known, const struct pt_process *process, pt_u32 id);
/* The call that launched it, where only wrappers saw it: "launch gemm(float*)". */
const char *pt_gpu_launch_name(struct pt_map *known, const struct pt_process *process, pt_u32 id);
void pt_gpu_kernel_names_free(struct pt_map *known);

/* "device/context/stream": 0 where a number is missing; a stream of -1 = none. */
struct pt_gpu_queue {
    pt_u32 device, context;
    pt_i64 stream;
};
struct pt_gpu_queue pt_gpu_queue_parse(const char *text);

/* The correlation of a record of the GPU; 0 = none. */
pt_u32 pt_gpu_correlation(const struct pt_event *event);
/* A call that can start work on the GPU. */
bool pt_gpu_is_launch(const struct pt_event *event);

#endif
