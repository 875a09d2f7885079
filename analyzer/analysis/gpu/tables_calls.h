/* SPDX-License-Identifier: MIT
 *
 * gpu/tables_calls.h - tables of the host's side.
 */
#ifndef PT_ANALYSIS_GPU_TABLES_CALLS_H
#define PT_ANALYSIS_GPU_TABLES_CALLS_H

#include "state.h"

void pt_gpu_call_tables(struct pt_gpu *gpu, pt_u32 stage);

#endif
