/* SPDX-License-Identifier: MIT
 *
 * stacks/faults.h - processes that run, and get nowhere because the kernel takes their memory away as fast as they use
 * it.
 */
#ifndef PT_STACKS_FAULTS_H
#define PT_STACKS_FAULTS_H

#include "types.h"

void pt_faults_begin(struct pt_look_process *process);
/* Says `disk` of each process that has waited for its memory since then; waits a little where one may. */
void pt_faults_look(struct pt_look *look);

#endif
