/* SPDX-License-Identifier: MIT
 *
 * gpu/tables_idle.h - tables of devices, and of why they were idle.
 */
#ifndef PT_ANALYSIS_GPU_TABLES_IDLE_H
#define PT_ANALYSIS_GPU_TABLES_IDLE_H

#include "state.h"

void pt_gpu_idle_tables(struct pt_gpu *gpu, pt_u32 stage);

#endif
