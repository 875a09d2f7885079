/* SPDX-License-Identifier: MIT
 *
 * timeline/ranges.h - ranges that may overlap others or end on another thread: on tracks of the process.
 */
#ifndef PT_EXPORT_TIMELINE_RANGES_H
#define PT_EXPORT_TIMELINE_RANGES_H

#include "types.h"

void pt_timeline_range_open(struct pt_timeline_process *process, const struct pt_event *event);
void pt_timeline_range_close(struct pt_timeline *timeline, struct pt_timeline_process *process,
                             const struct pt_event *event);
/* Those that the process never closed end with it. */
void pt_timeline_ranges_finish(struct pt_timeline *timeline, struct pt_timeline_process *process);

#endif
