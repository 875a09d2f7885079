/* SPDX-License-Identifier: MIT
 *
 * gpu/idle.h - gaps on GPUs and their causes.
 */
#ifndef PT_ANALYSIS_GPU_IDLE_H
#define PT_ANALYSIS_GPU_IDLE_H

#include "state.h"

void pt_gpu_idle_work(struct pt_gpu *gpu, pt_u32 device, const struct pt_gpu_activity *work,
                      const struct pt_gpu_call *call);
void pt_gpu_idle_end(struct pt_gpu *gpu);

#endif
