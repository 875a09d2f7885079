/* SPDX-License-Identifier: MIT
 *
 * tree.h - which process started which.
 */
#ifndef PT_MODEL_TREE_H
#define PT_MODEL_TREE_H

#include "session_types.h"

/* Of two processes of one machine, at most. */
#define PT_CLOCKS_DIFFER_NS 1000000

/* Parent links, previous images and process order; `session` has all its processes. */
void pt_session_link(struct pt_session *session);

/* The same boot, too: only then do pids and clocks mean the same. */
bool pt_same_machine(const struct pt_process *a, const struct pt_process *b);
/* To be mixed into the hash of what has a number or a name on each machine anew: pids, pipes, semaphores, files. */
pt_u64 pt_machine_of(const struct pt_process *process);

#endif
