/* SPDX-License-Identifier: MIT
 *
 * stacks/idle.h - how long each thread that waits has not run.
 */
#ifndef PT_STACKS_IDLE_H
#define PT_STACKS_IDLE_H

#include "types.h"

/* Once it is known what they wait for. Visits the CPUs that they ran on, and goes back. */
void pt_look_idle(struct pt_look *look);

#endif
