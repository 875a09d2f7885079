/* SPDX-License-Identifier: MIT
 *
 * cfi_row.h - the unwind rule of one address, in eight bytes.
 *
 * In nearly all code the caller's frame (the CFA) is at rsp or rbp plus a number, or in memory at rbp plus a number,
 * the return address is right below it, and rbp may be saved; a row has that. Other rules (signal frames, the procedure
 * linkage table, some assembly) are evaluated from the tables each time.
 */
#ifndef PT_CPU_PROFILE_CFI_ROW_H
#define PT_CPU_PROFILE_CFI_ROW_H

#include <elfutils/libdw.h>

#include "frame.h"

enum pt_row_kind {
    PT_CFI_ROW_UNSET,
    PT_CFI_ROW_NONE, /* there is nothing about this address */
    PT_CFI_ROW_END,  /* the outermost frame */
    PT_CFI_ROW_RSP,
    PT_CFI_ROW_RBP,
    PT_CFI_ROW_RBP_MEMORY,
    PT_CFI_ROW_SLOW,
};

static inline enum pt_row_kind pt_cfi_row_kind(pt_u64 row)
{
    return (enum pt_row_kind)(row & 7);
}

pt_u64 pt_cfi_row_pack(Dwarf_Frame *frame);
enum pt_frame_step pt_cfi_row_step(pt_u64 row, const struct pt_stack_copy *stack, struct pt_frame_regs *regs);
enum pt_frame_step pt_cfi_frame_step(Dwarf_Frame *frame, const struct pt_stack_copy *stack, struct pt_frame_regs *regs);

#endif
