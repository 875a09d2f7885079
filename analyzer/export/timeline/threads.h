/* SPDX-License-Identifier: MIT
 *
 * timeline/threads.h - what threads did: calls, ranges, steps, marks, counters of the program, execs.
 */
#ifndef PT_EXPORT_TIMELINE_THREADS_H
#define PT_EXPORT_TIMELINE_THREADS_H

#include "types.h"

/* Any event but those of the heap and of GPUs. */
void pt_timeline_thread_event(struct pt_timeline *timeline, const struct pt_event *event);
/* Ends what is open on the threads of a process. */
void pt_timeline_threads_finish(struct pt_timeline *timeline, struct pt_timeline_process *process);

#endif
