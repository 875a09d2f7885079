/* SPDX-License-Identifier: MIT
 *
 * gpu.h - the GPUs of a stage: bars of what they did, a few lines, tables.
 */
#ifndef PT_REPORT_BUILD_GPU_H
#define PT_REPORT_BUILD_GPU_H

#include "state.h"

/* Nothing when the stage uses none. */
void pt_build_gpu(const struct pt_build *b, struct pt_doc_stage *stage);

#endif
