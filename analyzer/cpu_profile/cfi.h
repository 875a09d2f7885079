/* SPDX-License-Identifier: MIT
 *
 * cfi.h - how to get from a frame to its caller, as the unwind tables of one executable or library say it (.eh_frame).
 *
 * elfutils reads the tables; what they say for an address is kept in eight bytes, and going through it again costs a
 * hash lookup. The table of a file serves all processes that map it.
 */
#ifndef PT_CPU_PROFILE_CFI_H
#define PT_CPU_PROFILE_CFI_H

#include <stdbool.h>
#include <sys/types.h>

#include "proftrace/schema.h"

struct pt_cfi;

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

enum { PT_CFI_RBX = 3, PT_CFI_RBP = 6, PT_CFI_RSP = 7, PT_CFI_RIP = 16, PT_CFI_REGS = 17 };

/* By DWARF's numbers. */
struct pt_frame_regs {
    pt_u64 value[PT_CFI_REGS];
    pt_u32 known; /* a bit for each */
};

enum pt_cfi_step {
    PT_CFI_CALLER,  /* the registers are the caller's now, rip is the address that it goes on at */
    PT_CFI_SIGNAL,  /* the same, and rip is the very instruction that a signal interrupted */
    PT_CFI_END,     /* nobody called it */
    PT_CFI_CUT,     /* the copy of the stack ends before */
    PT_CFI_NO_INFO, /* the file says nothing about this address */
};

/* NULL = cannot be used: no such file, or not an ELF file of this machine. */
struct pt_cfi *pt_cfi_open(const char *path);
/* The vDSO is in no file, but ours is everybody's. */
struct pt_cfi *pt_cfi_open_vdso(void);
void pt_cfi_close(struct pt_cfi *cfi);

/* Where the byte of the file lies in memory, before the file is moved to where it was loaded. */
pt_u64 pt_cfi_address(const struct pt_cfi *cfi, pt_u64 file_offset);
/* Its build-id; at most 20 bytes. */
pt_u32 pt_cfi_build_id(const struct pt_cfi *cfi, const pt_u8 **ret_build_id);
/* `address`: of the instruction that runs, or of one inside the call. */
enum pt_cfi_step pt_cfi_step(struct pt_cfi *cfi, pt_u64 address, const struct pt_stack_copy *stack,
                             struct pt_frame_regs *regs);

#endif
