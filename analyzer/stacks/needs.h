/* SPDX-License-Identifier: MIT
 *
 * stacks/needs.h - whom a thread waits for.
 */
#ifndef PT_STACKS_NEEDS_H
#define PT_STACKS_NEEDS_H

#include "types.h"

/* Any thread of that process could let it go on; its own process: any other thread. */
void pt_needs_process(struct pt_look_thread *thread, pt_u32 pid);
/* A signal handler of its process could let a thread go on that waits for others of its process. */
bool pt_may_be_signalled(const struct pt_look *look, const struct pt_look_process *process);

#endif
