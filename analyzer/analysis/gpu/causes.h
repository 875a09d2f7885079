/* SPDX-License-Identifier: MIT
 *
 * gpu/causes.h - why a GPU had nothing to do: the causes, as data.
 */
#ifndef PT_ANALYSIS_GPU_CAUSES_H
#define PT_ANALYSIS_GPU_CAUSES_H

#include <stdbool.h>

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
/* Imports happen once, and a server without requests has nothing to do: no finding counts them. */
static inline bool pt_gpu_is_no_cost(enum pt_gpu_cause cause)
{
    return cause == PT_GPU_CAUSE_importing || cause == PT_GPU_CAUSE_idle;
}

extern const struct pt_gpu_cause_row pt_gpu_causes[PT_GPU_CAUSE__COUNT];

#endif
