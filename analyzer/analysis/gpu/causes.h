/* SPDX-License-Identifier: MIT
 *
 * gpu/causes.h - why a GPU had nothing to do: the causes, as data.
 */
#ifndef PT_ANALYSIS_GPU_CAUSES_H
#define PT_ANALYSIS_GPU_CAUSES_H

#include "proftrace/schema.h"

enum pt_gpu_cause {
#define CAUSE(id, label) PT_GPU_CAUSE_##id,
#include "gpu_causes.def"
#undef CAUSE
    PT_GPU_CAUSE__COUNT
};

struct pt_gpu_cause_row {
    const char *id, *metric, *label;
};
extern const struct pt_gpu_cause_row pt_gpu_causes[PT_GPU_CAUSE__COUNT];

#endif
