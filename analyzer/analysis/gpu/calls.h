/* SPDX-License-Identifier: MIT
 *
 * gpu/calls.h - CUDA calls of the host, and sums of calls, synchronisations and overheads.
 */
#ifndef PT_ANALYSIS_GPU_CALLS_H
#define PT_ANALYSIS_GPU_CALLS_H

#include "decode/event.h"
#include "state.h"

void pt_gpu_calls_event(struct pt_gpu *gpu, const struct pt_event *event);
/* Adds to the sum of its stage, kind and name. */
void pt_gpu_sum_add(struct pt_gpu *gpu, struct pt_gpu_summed what, pt_i64 duration_ns, bool is_error);
const struct pt_gpu_call *pt_gpu_call_find(const struct pt_gpu *gpu, const struct pt_process *process,
                                           pt_u32 correlation);
/* What that call copies to the host is a value that somebody wants to know now. */
void pt_gpu_call_reads_value(struct pt_gpu *gpu, const struct pt_process *process, pt_u32 correlation);

#endif
