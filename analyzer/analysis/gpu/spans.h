/* SPDX-License-Identifier: MIT
 *
 * gpu/spans.h - which cause of idleness a span of the launching thread is.
 */
#ifndef PT_ANALYSIS_GPU_SPANS_H
#define PT_ANALYSIS_GPU_SPANS_H

#include "state.h"

enum pt_gpu_cause pt_gpu_span_cause(const struct pt_span *span);
/* The file, function or host that it is about; NULL = none. */
const char *pt_gpu_span_text(struct pt_gpu *gpu, const struct pt_process *process, const struct pt_span *span);

#endif
