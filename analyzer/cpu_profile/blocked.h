/* SPDX-License-Identifier: MIT
 *
 * blocked.h - stacks of threads that are off the CPU now and for which no stack was taken when they left it, or one
 * without their functions of Python: the longer a wait, the more likely it is sampled. No thread is stopped for that:
 * /proc/PID/task/TID/syscall says where a blocked thread is, and its stack is read from outside.
 */
#ifndef PT_CPU_PROFILE_BLOCKED_H
#define PT_CPU_PROFILE_BLOCKED_H

#include "python/pythons.h"
#include "images.h"
#include "stack_tree.h"
#include "threads.h"

struct pt_blocked {
    PT_VEC(pt_u32); /* tids that left the CPU without a stack, longest ago first; some are back since */
    pt_u8 *stack;
    pt_u64 paid_ns;         /* the budget for samples is used up to this time of the profile */
    struct pt_map is_fault; /* process and address -> 1 or, no system call is there, 2 */
};

/* What sampling a thread needs, and what it adds to. */
struct pt_blocked_context {
    struct pt_threads *threads;
    struct pt_code_modules *modules;
    struct pt_images *images;
    struct pt_stack_tree *stacks;
    pt_u64 begin_ns;            /* of the profile, CLOCK_MONOTONIC */
    struct pt_pythons *pythons; /* NULL = native stacks only */
};

/* Does a process that waits at `pc` wait for a page, rather than in a system call? On a busy machine it may have
 * ended in the meantime: `image` is its code. */
bool pt_blocked_is_fault(const struct pt_image *image, pt_u32 pid, pt_u64 pc);
/* The same, for each time that a thread leaves the CPU; cached, because a program waits in few places. */
bool pt_blocked_misses_page(struct pt_blocked *blocked, const struct pt_image *image, pt_u32 pid, pt_u64 pc);
/* It has left the CPU. */
void pt_blocked_leaves(struct pt_blocked *blocked, struct pt_live_thread *thread);
/* Called after the pending records were read. False = no thread waits without any stack: nobody need come back soon. */
bool pt_blocked_sample(struct pt_blocked *blocked, const struct pt_blocked_context *with);
void pt_blocked_fini(struct pt_blocked *blocked);

#endif
