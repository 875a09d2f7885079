/* SPDX-License-Identifier: MIT
 *
 * gpu/tables_work.h - tables of what GPUs did.
 */
#ifndef PT_ANALYSIS_GPU_TABLES_WORK_H
#define PT_ANALYSIS_GPU_TABLES_WORK_H

#include "state.h"

void pt_gpu_work_tables(struct pt_gpu *gpu, pt_u32 stage);

#endif
