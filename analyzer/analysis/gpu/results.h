/* SPDX-License-Identifier: MIT
 *
 * gpu/results.h - metrics of GPUs for each stage.
 */
#ifndef PT_ANALYSIS_GPU_RESULTS_H
#define PT_ANALYSIS_GPU_RESULTS_H

#include "state.h"

void pt_gpu_results(struct pt_gpu *gpu, pt_u32 stage);

#endif
