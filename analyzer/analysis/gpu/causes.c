/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of causes, made from gpu_causes.def. Threads: any. Never: changes.
 */
#include "causes.h"

const struct pt_gpu_cause_row pt_gpu_causes[PT_GPU_CAUSE__COUNT] = {
#define CAUSE(id, label) {#id, "gpu.idle." #id "_s", label},
#include "gpu_causes.def"
#undef CAUSE
};
