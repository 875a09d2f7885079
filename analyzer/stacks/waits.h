/* SPDX-License-Identifier: MIT
 *
 * stacks/waits.h - what each thread waits for, by the system call that it is in; and who waits for whom in a circle.
 */
#ifndef PT_STACKS_WAITS_H
#define PT_STACKS_WAITS_H

#include "types.h"

/* Once all threads were read. */
void pt_look_waits(struct pt_look *look);

#endif
