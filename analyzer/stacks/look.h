/* SPDX-License-Identifier: MIT
 *
 * stacks/look.h - the processes that are looked at, and the stacks of their threads.
 *
 * Threads that wait are read without being stopped: the kernel says where they are, and a wait that is interrupted
 * could end early with EINTR in a program that never had to expect that. Threads that run, and those whose stack cannot
 * be followed without registers, are stopped by ptrace for the time of a copy.
 */
#ifndef PT_STACKS_LOOK_H
#define PT_STACKS_LOOK_H

#include "util/error.h"
#include "types.h"

/* A process, with all that descend from it, read. -1: it is not there, or may not be read. Close whatever the result;
 * `look` is zeroed before. */
int pt_look_open(struct pt_look *look, pt_u32 pid, bool may_stop, struct pt_error *err);
/* All processes that record into the run directory now, with what descends from them. -1: none does. */
int pt_look_open_run(struct pt_look *look, const char *run, bool may_stop, struct pt_error *err);
void pt_look_close(struct pt_look *look);

#endif
