/* SPDX-License-Identifier: MIT
 *
 * children/pools.h - pools of workers that are made anew again and again, and what their starts and ends cost.
 */
#ifndef PT_ANALYSIS_CHILDREN_POOLS_H
#define PT_ANALYSIS_CHILDREN_POOLS_H

#include "state.h"

/* The current event is a wait of a main thread for workers of its process. */
void pt_children_pools_wait(struct pt_children_waits *waits, const struct pt_event *event);
/* The metrics of a stage, after the last event. */
void pt_children_pools_results(const struct pt_children *children, pt_u32 stage);

#endif
