/* SPDX-License-Identifier: MIT
 *
 * frame.h - one frame of a thread's stack during a walk: its registers, and the copy of the stack.
 */
#ifndef PT_CPU_PROFILE_FRAME_H
#define PT_CPU_PROFILE_FRAME_H

#include <stdbool.h>

#include "proftrace/schema.h"

/* A copy of a thread's stack, as far as it goes. */
struct pt_stack_copy {
    const pt_u8 *bytes;
    pt_u64 address, n_bytes;
};

static inline bool pt_stack_read(const struct pt_stack_copy *stack, pt_u64 address, pt_u64 *ret_word)
{
    const pt_u64 offset = address - stack->address;
    if (stack->n_bytes < 8 || offset > stack->n_bytes - 8)
        return false;
    __builtin_memcpy(ret_word, stack->bytes + offset, 8);
    return true;
}

enum { PT_CFI_RBP = 6, PT_CFI_RSP = 7, PT_CFI_RIP = 16, PT_CFI_REGS = 17 };

/* By DWARF's numbers. */
struct pt_frame_regs {
    pt_u64 value[PT_CFI_REGS];
    pt_u32 known; /* a bit for each */
};

/* What a step to the caller has led to. */
enum pt_frame_step {
    PT_FRAME_CALLER,  /* the registers are the caller's now, rip is its return address */
    PT_FRAME_SIGNAL,  /* the same, and rip is the very instruction that a signal interrupted */
    PT_FRAME_END,     /* it has no caller */
    PT_FRAME_CUT,     /* the copy of the stack ends before */
    PT_FRAME_NO_INFO, /* the file says nothing about this address */
};

#endif
