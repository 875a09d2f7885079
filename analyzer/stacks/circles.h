/* SPDX-License-Identifier: MIT
 *
 * stacks/circles.h - which threads can never go on, and what follows from the whole look.
 */
#ifndef PT_STACKS_CIRCLES_H
#define PT_STACKS_CIRCLES_H

#include "types.h"

/* Once it is known what each thread waits for: marks the deadlocked, and adds the conclusions, the gravest first. */
void pt_look_conclude(struct pt_look *look);

#endif
