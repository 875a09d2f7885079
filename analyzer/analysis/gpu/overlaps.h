/* SPDX-License-Identifier: MIT
 *
 * gpu/overlaps.h - GPU time of ranges that may overlap others.
 */
#ifndef PT_ANALYSIS_GPU_OVERLAPS_H
#define PT_ANALYSIS_GPU_OVERLAPS_H

#include "decode/event.h"
#include "state.h"

/* By name. */
struct pt_gpu_overlap_sum {
    pt_u32 stage;
    const char *name;
    pt_u64 calls, elsewhere; /* elsewhere: calls that ended on another thread; the sums are of the others */
    pt_u64 activities;
    pt_i64 gpu_ns;
};

void pt_gpu_overlaps_event(struct pt_gpu *gpu, const struct pt_event *event);
pt_u32 pt_gpu_overlaps_of(struct pt_gpu *gpu, const struct pt_thread *thread); /* for what it launches now */
void pt_gpu_overlaps_work(struct pt_gpu *gpu, const struct pt_gpu_call *call, pt_i64 ns);
/* All sums, when no more work comes; they still belong to gpu. */
const struct pt_gpu_overlap_sum *pt_gpu_overlaps_sums(struct pt_gpu *gpu, size_t *ret_n);
void pt_gpu_overlaps_free(struct pt_gpu *gpu);

#endif
