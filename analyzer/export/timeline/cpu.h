/* SPDX-License-Identifier: MIT
 *
 * timeline/cpu.h - what the CPU profile adds to a timeline: the names of threads, and what each of them ran.
 */
#ifndef PT_EXPORT_TIMELINE_CPU_H
#define PT_EXPORT_TIMELINE_CPU_H

#include "types.h"

/* Before the processes are opened, and after that, before the first event. Nothing where no profile was taken. */
void pt_timeline_cpu_names(struct pt_timeline *timeline, const struct pt_export_options *options);
void pt_timeline_cpu(struct pt_timeline *timeline, const struct pt_export_options *options);

#endif
