/* SPDX-License-Identifier: MIT
 *
 * children/idle_queues.h - workers of a loader that wait for work while those of another loader do it.
 */
#ifndef PT_ANALYSIS_CHILDREN_IDLE_QUEUES_H
#define PT_ANALYSIS_CHILDREN_IDLE_QUEUES_H

#include "state.h"

/* Of one worker, in nanoseconds. */
struct pt_children_life {
    const struct pt_process *process;
    double life_ns, busy_ns;
    bool waits_beside; /* found: its loader is not the one that is waited for */
};

/* Of a stage that trains with a loader; without one, programs may have a queue for each worker. */
void pt_children_find_idle(const struct pt_children *children, struct pt_children_life *lives, pt_u32 n);

#endif
