/* SPDX-License-Identifier: MIT
 *
 * gpu/work.h - work on GPUs, each piece with the call that started it.
 */
#ifndef PT_ANALYSIS_GPU_WORK_H
#define PT_ANALYSIS_GPU_WORK_H

#include "decode/event.h"
#include "state.h"

void pt_gpu_work_event(struct pt_gpu *gpu, const struct pt_event *event);
/* A call has come: work that ended before it, and belongs to it, is known from now on. */
void pt_gpu_work_called(struct pt_gpu *gpu);
void pt_gpu_work_end(struct pt_gpu *gpu);

#endif
