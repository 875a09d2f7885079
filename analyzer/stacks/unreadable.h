/* SPDX-License-Identifier: MIT
 *
 * stacks/unreadable.h - why a process cannot be read.
 */
#ifndef PT_STACKS_UNREADABLE_H
#define PT_STACKS_UNREADABLE_H

#include "types.h"

/* Sets `why_not`, each reason with its remedy, and `killed_by`. `exit_code`: of one that has ended, as wait(2) has it.
 */
void pt_unreadable(struct pt_look *look, struct pt_look_process *process, int exit_code);
/* Of a number that /proc does not have: nobody has it, or it may not be seen. Returns -1, for the caller to return. */
int pt_unseen(pt_u32 pid, struct pt_error *err);

#endif
