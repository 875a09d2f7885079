/* SPDX-License-Identifier: MIT
 *
 * gpu/causes.h - why a GPU had nothing to do: the causes, as data.
 */
#ifndef PT_ANALYSIS_GPU_CAUSES_H
#define PT_ANALYSIS_GPU_CAUSES_H

#include "proftrace/schema.h"

enum gpu_cause {
#define CAUSE(id, label) GPU_CAUSE_##id,
#include "gpu_causes.def"
#undef CAUSE
    GPU_CAUSE__COUNT
};

struct gpu_cause_row {
    const char *id, *metric, *label;
};
extern const struct gpu_cause_row pt_gpu_causes[GPU_CAUSE__COUNT];

#endif
