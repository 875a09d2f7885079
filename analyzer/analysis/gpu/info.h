/* SPDX-License-Identifier: MIT
 *
 * gpu/info.h - how GPU work was seen, and when not.
 */
#ifndef PT_ANALYSIS_GPU_INFO_H
#define PT_ANALYSIS_GPU_INFO_H

#include "decode/event.h"
#include "state.h"

/* Before the first event: devices whose descriptions may be among the events that are missing. */
void pt_gpu_info_begin(struct pt_gpu *gpu);
void pt_gpu_info_event(struct pt_gpu *gpu, const struct pt_event *event);
/* Records of the process's devices are missing there: whether they were idle is unknown. */
void pt_gpu_not_seen(struct pt_gpu *gpu, const struct pt_process *process, const struct pt_hole *hole);
void pt_gpu_info_end(struct pt_gpu *gpu);
/* When the program had CUPTI for itself. */
void pt_gpu_not_seen_table(struct pt_gpu *gpu, pt_u32 stage);
/* Why nothing is known of the GPU work of a stage; NULL = no program of it is made for GPUs. */
const char *pt_gpu_why_none(struct pt_gpu *gpu, pt_u32 stage);

#endif
