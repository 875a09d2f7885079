/* SPDX-License-Identifier: MIT
 *
 * timeline/gpu.h - the GPU work of a process.
 */
#ifndef PT_EXPORT_TIMELINE_GPU_H
#define PT_EXPORT_TIMELINE_GPU_H

#include "types.h"

/* An event of the category GPU. */
void pt_timeline_gpu_event(struct pt_timeline *timeline, struct pt_timeline_process *process,
                           const struct pt_event *event);
/* A call that may have started work: the arrow that begins there goes into its slice. */
void pt_timeline_gpu_call(struct pt_timeline *timeline, struct pt_timeline_slice *slice);
/* "launch gemm(float*)" of a kernel's string id. */
const char *pt_timeline_gpu_launch_name(struct pt_timeline_process *process, pt_u32 kernel);

void pt_timeline_gpu_finish(struct pt_timeline_process *process);
void pt_timeline_gpu_free(struct pt_timeline_process *process);

#endif
