/* SPDX-License-Identifier: MIT
 *
 * gpu/tables_memory.h - tables of GPU memory.
 */
#ifndef PT_ANALYSIS_GPU_TABLES_MEMORY_H
#define PT_ANALYSIS_GPU_TABLES_MEMORY_H

#include "state.h"

void pt_gpu_memory_tables(struct pt_gpu *gpu, pt_u32 stage);

#endif
