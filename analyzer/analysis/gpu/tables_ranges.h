/* SPDX-License-Identifier: MIT
 *
 * gpu/tables_ranges.h - the table of what GPUs did for the program's own ranges.
 */
#ifndef PT_ANALYSIS_GPU_TABLES_RANGES_H
#define PT_ANALYSIS_GPU_TABLES_RANGES_H

#include "state.h"

void pt_gpu_range_tables(struct pt_gpu *gpu, pt_u32 stage);

#endif
