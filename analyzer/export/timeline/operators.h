/* SPDX-License-Identifier: MIT
 *
 * timeline/operators.h - what the profiler windows of a run add to a timeline: PyTorch's operators beside their thread.
 */
#ifndef PT_EXPORT_TIMELINE_OPERATORS_H
#define PT_EXPORT_TIMELINE_OPERATORS_H

#include "types.h"

/* Before the first event. Nothing where there was no window. */
void pt_timeline_operators(struct pt_timeline *timeline);

#endif
