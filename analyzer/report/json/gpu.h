/* SPDX-License-Identifier: MIT
 *
 * gpu.h - the GPUs of a stage as JSON.
 */
#ifndef PT_REPORT_JSON_GPU_H
#define PT_REPORT_JSON_GPU_H

#include "report.h"

/* The member "gpu" of the stage that is open; nothing when it uses none. */
void pt_json_gpu(const struct pt_report_json *r, pt_u32 stage);

#endif
