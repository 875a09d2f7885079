/* SPDX-License-Identifier: MIT
 *
 * model/cuda_kinds.h - names of CUDA's kinds of copies and memory. Kinds that are not known are "unknown".
 */
#ifndef PT_MODEL_CUDA_KINDS_H
#define PT_MODEL_CUDA_KINDS_H

#include "proftrace/types.h"

struct pt_cuda_kind_name {
    const char *name;  /* in reports: "HtoD", "device static" */
    const char *torch; /* in timelines, as PyTorch's profiler has it: "HtoD", "Device Static" */
};

const struct pt_cuda_kind_name *pt_cuda_copy_kind(pt_u32 kind);
const struct pt_cuda_kind_name *pt_cuda_memory_kind(pt_u32 kind);

#endif
