/* SPDX-License-Identifier: MIT
 *
 * children/longest_wait.h - the process whose main thread waited longest for its workers: others wait beside it.
 */
#ifndef PT_ANALYSIS_CHILDREN_LONGEST_WAIT_H
#define PT_ANALYSIS_CHILDREN_LONGEST_WAIT_H

#include "state.h"

/* The current event is a wait of a main thread for workers of its process. */
void pt_children_longest_wait_add(struct pt_children *children, const struct pt_event *event);
/* After the last event: which processes load with their workers. */
void pt_children_find_loaders(struct pt_children *children);
/* The metrics of a stage that has workers, after the last event. */
void pt_children_longest_wait_results(const struct pt_children *children, pt_u32 stage);

#endif
