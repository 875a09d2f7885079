/* SPDX-License-Identifier: MIT
 *
 * blocked.h - stacks of threads that are off the CPU now and of whose leaving none was taken: the longer a wait, the
 * surer it is met. Nobody is stopped for it: where a blocked thread is says /proc/PID/task/TID/syscall, and its stack
 * is read from outside.
 */
#ifndef PT_CPU_PROFILE_BLOCKED_H
#define PT_CPU_PROFILE_BLOCKED_H

#include "images.h"
#include "stack_tree.h"
#include "threads.h"

struct pt_blocked {
    PT_VEC(pt_u32); /* tids that left the CPU without a stack, longest ago first; some are back since */
    pt_u8 *stack;
    pt_u64 paid_ns;         /* looks are paid for up to this time of the profile */
    struct pt_map is_fault; /* process and address -> 1 or, no system call is there, 2 */
};

/* What a look needs to know, and what it adds to. */
struct pt_blocked_look {
    struct pt_threads *threads;
    struct pt_code_modules *modules;
    struct pt_images *images;
    struct pt_stack_tree *stacks;
    pt_u64 begin_ns; /* of the profile, CLOCK_MONOTONIC */
};

/* Does a process that waits at `pc` miss a page, rather than having called the kernel? On a busy machine it may be gone
 * when this is asked: `image` is where its code lay. */
bool pt_blocked_is_fault(const struct pt_image *image, pt_u32 pid, pt_u64 pc);
/* The same, asked each time that a thread leaves the CPU: a program waits in few places. */
bool pt_blocked_misses_page(struct pt_blocked *blocked, const struct pt_image *image, pt_u32 pid, pt_u64 pc);
/* It has left the CPU. */
void pt_blocked_leaves(struct pt_blocked *blocked, struct pt_live_thread *thread);
/* When the records that are there have been taken. False = nobody waits to be looked at. */
bool pt_blocked_look(struct pt_blocked *blocked, const struct pt_blocked_look *with);
void pt_blocked_fini(struct pt_blocked *blocked);

#endif
