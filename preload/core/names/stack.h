/* SPDX-License-Identifier: MIT
 *
 * stack.h - the caller's native stack as an id.
 */
#ifndef PT_CORE_NAMES_STACK_H
#define PT_CORE_NAMES_STACK_H

#include "core/thread.h"

/* One in how many samples of a block of this size has its stack taken, this one being it; 0 = this one has not. */
pt_u32 pt_stack_turn(struct pt_tracer_thread *t, pt_u64 size_bytes, pt_u64 interval_bytes);
/* It was its turn, and has been taken since `begun`. */
void pt_stack_paid(struct pt_tracer_thread *t, pt_u64 begun);

/* 0 when stacks are off or it cannot be taken. */
pt_u32 pt_intern_stack(void);

#endif
