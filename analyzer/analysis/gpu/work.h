/* SPDX-License-Identifier: MIT
 *
 * gpu/work.h - work on GPUs, each piece with the call that started it.
 */
#ifndef PT_ANALYSIS_GPU_WORK_H
#define PT_ANALYSIS_GPU_WORK_H

#include "decode/event.h"
#include "state.h"

void pt_gpu_work_event(struct pt_gpu *gpu, const struct pt_event *event);
void pt_gpu_work_flush(struct pt_gpu *gpu);

#endif
