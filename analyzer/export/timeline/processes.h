/* SPDX-License-Identifier: MIT
 *
 * timeline/processes.h - the processes of a timeline: their lives, and arrows from those that made them.
 */
#ifndef PT_EXPORT_TIMELINE_PROCESSES_H
#define PT_EXPORT_TIMELINE_PROCESSES_H

#include "types.h"

/* Each selected process gets its names and its main track. */
void pt_timeline_processes_open(struct pt_timeline *timeline, const struct pt_filter *filter);
/* After all events: their lives, how many threads were alive, and the arrows that no event gave. */
void pt_timeline_processes_show(struct pt_timeline *timeline);
void pt_timeline_processes_free(struct pt_timeline *timeline);

/* In by_pid, the first image of a pid that began no earlier; where there is none, what stands behind them. */
pt_u32 pt_timeline_first_of_pid(const struct pt_timeline *timeline, pt_u32 pid, pt_i64 from_ns);
/* The process that a fork or spawn at `at_ns` made, if it is shown and no arrow leads to it yet. */
struct pt_timeline_process *pt_timeline_find_child(struct pt_timeline *timeline,
                                                   const struct pt_timeline_process *parent, pt_i32 child_pid,
                                                   pt_i64 at_ns);
struct pt_timeline_process *pt_timeline_next_image(struct pt_timeline *timeline,
                                                   const struct pt_timeline_process *process);
/* An arrow from a place to the process that was made there (NULL = none); the id for the slice there, 0 = the arrow
 * would point back in time. */
pt_u64 pt_timeline_link_process(struct pt_timeline *timeline, const char *what, const struct pt_timeline_place *from,
                                struct pt_timeline_process *made);

#endif
