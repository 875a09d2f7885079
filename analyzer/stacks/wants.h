/* SPDX-License-Identifier: MIT
 *
 * stacks/wants.h - what a program waits for in its own terms, by the functions that it waits in.
 */
#ifndef PT_STACKS_WANTS_H
#define PT_STACKS_WANTS_H

#include "types.h"

/* "an item of a queue"; NULL = its functions do not say. */
const char *pt_wants(const struct pt_look_thread *thread);

#endif
