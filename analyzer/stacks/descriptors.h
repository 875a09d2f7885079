/* SPDX-License-Identifier: MIT
 *
 * stacks/descriptors.h - what a thread waits for at a descriptor: the file, who has the other end, and whether anybody
 * else could let it go on.
 */
#ifndef PT_STACKS_DESCRIPTORS_H
#define PT_STACKS_DESCRIPTORS_H

#include "types.h"

/* What it is, with who is at the other end: "5 (pipe, written by process 12 server.py)". Adds the processes that the
 * thread waits for there, and says `may_go_on` where others might let it go on. */
const char *pt_descriptor_wait(struct pt_look *look, struct pt_look_thread *thread, int fd, bool writes);
/* Those of poll, select and epoll_wait; a call that has a limit does so too. */
const char *pt_descriptors_wait(struct pt_look *look, struct pt_look_thread *thread);
/* Of a path that a system call of the thread has as argument `index`. */
const char *pt_descriptor_path(struct pt_look *look, const struct pt_look_thread *thread, int index);
/* "process 12 (server.py)" */
const char *pt_peer_name(struct pt_look *look, pt_u32 pid);

#endif
